import { resolve } from 'node:path'
import type { Host, Inventory, Vars } from '../inventory/host.ts'
import { quoted } from '../inventory/names.ts'
import type { SecretSources } from '../inventory/secret-reader.ts'
import { secretReader } from '../inventory/secret-reader.ts'
import type { HostFaults } from './host-faults.ts'
import { hostFaults } from './host-faults.ts'
import type { Outcome } from './outcome.ts'
import type { Tasks } from './params.ts'
import { parseParams } from './params.ts'
import type { HostPlay, Playbook, PlaybookStep } from './playbook.ts'
import { holdsReference } from './reference.ts'
import { scopeOf } from './scope.ts'
import { selectFor } from './step-hosts.ts'
import { suggester } from './suggest.ts'
import type { Value } from './value.ts'
import { valueKeys } from './value.ts'
import { resolver } from './variables.ts'

export interface PlayRequest {
  readonly playbook: Playbook
  readonly inventory: Inventory
  /** Already narrowed by `--limit`; those that the playbook is not for are left out. */
  readonly hosts: readonly Host[]
  readonly tasks: Tasks
  readonly extraVars: Vars
  /** For `@file` in a pattern and for the file of a secret. */
  readonly cwd: string
  readonly secrets: SecretSources
}

/** What each host is to go through, or every fault of every host at once. */
export const hostPlays = (request: PlayRequest): HostPlay[] => {
  const { playbook, hosts, extraVars, cwd, secrets } = request
  const faults = hostFaults(playbook)
  const isFor = selectFor(request, faults)
  const readSecret = secretReader({ ...secrets, readFile: (path) => secrets.readFile(resolve(cwd, path)) })
  const suggest = suggester()
  const keyOf = valueKeys()
  const preparers = playbook.steps.map((step, index) => preparer({ step, index, keyOf }, request.tasks, faults))

  const plays = hosts.filter(isFor.playbook).map((host): HostPlay => {
    const { defaults, vars } = playbook
    const fill = resolver({ scope: scopeOf({ defaults, host, vars, extraVars }), readSecret, suggest })
    const steps = playbook.steps.flatMap((step, index) => {
      if (!isFor.step(index, host)) return []
      const { name, task, when, timeout } = step
      const params = preparers[index]?.(host, fill)
      return [{ name, task, params, when, ...(timeout !== undefined && { timeoutS: timeout }) }]
    })
    return { host, steps }
  })
  faults.throwAny()
  return plays
}

interface Preparing {
  readonly step: PlaybookStep
  readonly index: number
  readonly keyOf: (value: Value) => string
}

type Prepare = (host: Host, fill: (value: PlaybookStep['with']) => Outcome) => unknown

/** The parameters of one step for a host. Hosts whose parameters are equal share them, and their faults. */
const preparer = ({ step, index, keyOf }: Preparing, tasks: Tasks, faults: HostFaults): Prepare => {
  const at = ['steps', index, 'with'] as const
  const isConstant = !holdsReference(step.with)
  const parsed = new Map<string, ReturnType<typeof parseParams>>()
  let outcome: Outcome | undefined

  return (host, fill) => {
    outcome = isConstant ? (outcome ?? fill(step.with)) : fill(step.with)
    if ('problems' in outcome) {
      for (const { code, path, message, remedy, inside } of outcome.problems) {
        const where = inside === undefined ? '' : `In the value of \${${inside}}: `
        faults.add({ code, path: [...at, ...path], message: `${where}${message}`, remedy }, host.name)
      }
      return undefined
    }
    const key = isConstant ? '' : keyOf(outcome.value)
    const params = parsed.get(key) ?? parse(step.task, outcome.value, tasks)
    parsed.set(key, params)
    for (const fault of params.faults) {
      const { message, remedy } = 'key' in fault ? unknownKey(fault) : fault
      faults.add({ code: 'playbook-invalid', path: [...at, ...fault.path], message, remedy }, host.name)
    }
    return params.value
  }
}

const parse = (task: string, value: Value, tasks: Tasks): ReturnType<typeof parseParams> => {
  const schema = tasks.get(task)?.params
  if (schema !== undefined) return parseParams(schema, value)
  return {
    faults: [{ path: [], message: `No task is called ${quoted(task)}.`, remedy: 'Correct the name of the task.' }],
  }
}

const unknownKey = ({
  key,
  known,
}: {
  key: string
  known: readonly string[]
}): { message: string; remedy: string } => ({
  message: `${quoted(key)} is not a key that is known here.`,
  remedy: `The keys here are: ${known.join(', ')}.`,
})
