import type { InputFault } from '../errors.ts'
import type { VarValue } from '../inventory/host.ts'
import { quoted } from '../inventory/names.ts'
import { didYouMean, nearName } from '../inventory/near.ts'
import { faultAt } from '../inventory/positions.ts'
import type { StrictYaml, YamlPath } from '../inventory/strict-yaml.ts'
import { checkPlain, checkTexts, checkVars } from './check-texts.ts'
import type { Tasks } from './params.ts'
import { checkTemplate } from './params.ts'
import { patternProblem } from './pattern-problem.ts'
import { mayRefer } from './reference.ts'
import type { Value } from './value.ts'
import { isMap } from './value.ts'

/**
 * What the schema cannot see: tasks, their parameters, patterns and variables. Works on the raw data, since a slip
 * in one step must not hide those in the others.
 */
export const checkPlaybook = (yaml: StrictYaml, tasks: Tasks): InputFault[] => {
  const steps = yaml.at(['steps'])
  const count = Array.isArray(steps) ? steps.length : 0
  return [
    ...checkPattern(yaml, ['hosts']),
    ...checkVars(yaml, ['defaults']),
    ...checkVars(yaml, ['vars']),
    ...checkPlain(yaml, ['confirm']),
    ...Array.from({ length: count }, (_, index) => checkStep(yaml, ['steps', index], tasks)).flat(),
    ...checkNames(yaml, count),
  ]
}

const checkStep = (yaml: StrictYaml, at: YamlPath, tasks: Tasks): InputFault[] => [
  ...checkPattern(yaml, [...at, 'hosts']),
  ...(['name', 'task', 'when'] as const).flatMap((key) => checkPlain(yaml, [...at, key])),
  ...checkTexts(yaml, [...at, 'with']),
  ...checkTask(yaml, at, tasks),
]

const checkTask = (yaml: StrictYaml, at: YamlPath, tasks: Tasks): InputFault[] => {
  const name = yaml.at([...at, 'task'])
  if (typeof name !== 'string' || mayRefer(name)) return []
  const task = tasks.get(name)
  if (task === undefined) {
    const remedy = didYouMean(nearName(name, tasks.keys()), `The tasks are: ${[...tasks.keys()].join(', ')}.`)
    return [faultAt(yaml.position([...at, 'task']), `No task is called ${quoted(name)}.`, remedy)]
  }
  const template = (yaml.at([...at, 'with']) ?? {}) as Value
  if (!isMap(template)) return []
  return checkTemplate(task.params, template as Readonly<Record<string, VarValue>>).map((fault) => {
    const path = [...at, 'with', ...fault.path]
    return 'key' in fault
      ? yaml.unknownKey(path, fault.key, fault.known)
      : faultAt(yaml.position(path), fault.message, fault.remedy)
  })
}

const checkNames = (yaml: StrictYaml, count: number): InputFault[] => {
  const seen = new Set<unknown>()
  return Array.from({ length: count }, (_, index) => ['steps', index, 'name'] as const).flatMap((at) => {
    const name = yaml.at(at)
    if (typeof name !== 'string' || !seen.has(name)) {
      seen.add(name)
      return []
    }
    return [faultAt(yaml.position(at), `Two steps are called ${quoted(name)}.`, 'Give each step a name of its own.')]
  })
}

const checkPattern = (yaml: StrictYaml, at: YamlPath): InputFault[] => {
  const pattern = yaml.at(at)
  if (typeof pattern !== 'string' || pattern === '') return []
  const problem = patternProblem(pattern)
  return problem === undefined ? checkPlain(yaml, at) : [faultAt(yaml.position(at), problem.message, problem.remedy)]
}
