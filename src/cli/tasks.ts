import { DroverError } from '../errors.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'
import { paintFor } from './colour.ts'
import type { WholeContext } from './context.ts'
import { parametersOf } from './parameters.ts'
import { tableLines } from './table.ts'

/** `drover tasks [name]`: what there is, from the tasks themselves. */
export const tasks = async (context: WholeContext, name: string | undefined): Promise<number> => {
  const look = { paint: paintFor(context, context.stdout), width: null }
  const lines = name === undefined ? all() : one(name)
  context.stdout.write(lines.map((line) => `${line}\n`).join(''))
  return 0

  function all(): readonly string[] {
    const rows = [...context.tasks.values()].map((task) => [{ text: task.name }, { text: task.summary }])
    return tableLines(['TASK', 'WHAT IT WANTS'], rows, look)
  }

  function one(wanted: string): readonly string[] {
    const task = context.tasks.get(wanted)
    if (task === undefined) throw unknown(wanted)
    const rows = parametersOf(task.params).map((parameter) =>
      [
        parameter.name,
        parameter.type,
        parameter.default ?? (parameter.isRequired ? 'required' : '-'),
        parameter.description,
      ].map((text) => ({ text })),
    )
    const table =
      rows.length === 0
        ? ['It has no parameters.']
        : tableLines(['PARAMETER', 'TYPE', 'DEFAULT', 'WHAT IT IS'], rows, look)
    const example = task.example
      .trimEnd()
      .split('\n')
      .map((line) => (line === '' ? '' : `  ${line}`))
    return [`${task.name}: ${task.summary}`, '', ...table, '', 'Example:', ...example]
  }

  function unknown(wanted: string): DroverError {
    const names = [...context.tasks.keys()]
    return new DroverError({
      code: 'usage',
      message: `No task is called ${quoted(wanted)}.`,
      remedy: didYouMean(nearName(wanted, names), `The tasks are: ${names.join(', ')}.`),
    })
  }
}
