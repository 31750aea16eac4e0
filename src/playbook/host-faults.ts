import type { ErrorCode, InputFault } from '../errors.ts'
import { InputError } from '../errors.ts'
import type { YamlPath } from '../inventory/strict-yaml.ts'
import type { Playbook } from './playbook.ts'
import { positionIn } from './positions.ts'

interface PlaceProblem {
  readonly code: ErrorCode
  readonly path: YamlPath
  readonly message: string
  readonly remedy: string
}

/** Faults over many hosts: one for each thing that is wrong, with the hosts it is wrong on. */
export interface HostFaults {
  add(problem: PlaceProblem, host?: string): void
  throwAny(): void
}

const namesShown = 3

export const hostFaults = (playbook: Playbook): HostFaults => {
  const found = new Map<string, { problem: PlaceProblem; hosts: string[] }>()
  return {
    add: (problem, host) => {
      const key = JSON.stringify([problem.path, problem.message])
      const entry = found.get(key) ?? { problem, hosts: [] }
      found.set(key, entry)
      if (host !== undefined) entry.hosts.push(host)
    },
    throwAny: () => {
      if (found.size === 0) return
      const codes = new Set([...found.values()].map(({ problem }) => problem.code))
      const [code = 'playbook-invalid'] = codes.size === 1 ? codes : []
      throw new InputError(code, [...found.values()].map((entry) => toFault(playbook, entry)).sort(byPlace))
    },
  }
}

const toFault = (playbook: Playbook, { problem, hosts }: { problem: PlaceProblem; hosts: string[] }): InputFault => {
  const { path, message, remedy } = problem
  return {
    ...positionIn(playbook, path),
    message: hosts.length === 0 ? message : `${message} (${hostList(hosts)})`,
    remedy,
  }
}

const hostList = (hosts: readonly string[]): string => {
  // "and 1 more" would be longer than the name.
  const shown = hosts.length <= namesShown + 1 ? hosts : hosts.slice(0, namesShown)
  const rest = hosts.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}

const byPlace = (a: InputFault, b: InputFault): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
