import { relative } from 'node:path'
import { DroverError } from '../errors.ts'
import { listPlaybooks } from '../playbook/find.ts'
import { loadPlaybook } from '../playbook/load.ts'
import { paintFor } from './colour.ts'
import type { WholeContext } from './context.ts'
import { tableLines } from './table.ts'

/** `drover playbooks`: names for `drover run`, with what each does and where it can be read. */
export const playbooks = async (context: WholeContext): Promise<number> => {
  const { stdout, cwd, playbooksDir: shippedDir, tasks } = context
  const rows = listPlaybooks(shippedDir).map((name) => {
    const { description, file } = described(name, () => loadPlaybook(name, { shippedDir, cwd, tasks }))
    return [name, description, file].map((text) => ({ text }))
  })
  const look = { paint: paintFor(context, stdout), width: null }
  stdout.write(
    tableLines(['NAME', 'DESCRIPTION', 'PATH'], rows, look)
      .map((line) => `${line}\n`)
      .join(''),
  )
  return 0

  function described(
    name: string,
    load: () => { description: string; file: string },
  ): { description: string; file: string } {
    try {
      const { description, file } = load()
      const near = relative(cwd, file)
      return { description, file: near.startsWith('..') ? file : near }
    } catch (thrown) {
      // One that cannot be used must not hide the others; `drover run` says what is wrong with it.
      if (!(thrown instanceof DroverError)) throw thrown
      return { description: `cannot be used: ${thrown.code}`, file: name }
    }
  }
}
