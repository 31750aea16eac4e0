import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { type Machine, machines, machinesTarget, workerUnit } from './names.ts'
import { persistentUnitPath, unitPath, wantsDirectory } from './paths.ts'

export interface Worker {
  readonly machine: Machine
  readonly unit: string
  /** The link on disk that outlives a reboot; systemd's own UnitFileState is cached (mechanisms.md 5). */
  readonly enabled: boolean
  /** Null where systemd does not answer, here and below. */
  readonly activeState: string | null
  readonly subState: string | null
  readonly masked: boolean | null
}

const wantsLink = (place: string, machine: Machine): string => `${wantsDirectory(place)}/${workerUnit(machine)}`

export const workerFacts = (): Fact[] =>
  machines.flatMap((machine): Fact[] => [
    { kind: 'unit', name: workerUnit(machine) },
    ...persistentUnitPath.map((place): Fact => ({ kind: 'path', path: wantsLink(place, machine) })),
  ])

export const readWorker = (view: HostView, machine: Machine): Worker => {
  const unit = workerUnit(machine)
  const answer = view.systemd.ok ? view.unit(unit) : null
  return {
    machine,
    unit,
    get enabled() {
      return isWanted(view, machine)
    },
    get activeState() {
      return answer?.get('ActiveState') ?? null
    },
    get subState() {
      return answer?.get('SubState') ?? null
    },
    get masked() {
      return answer && answer.get('LoadState') === 'masked'
    },
  }
}

// The first place that has the name decides, and a link to /dev/null there says no.
const isWanted = (view: HostView, machine: Machine): boolean => {
  for (const place of persistentUnitPath) {
    const link = view.node(wantsLink(place, machine))
    if (link.type !== 'absent') return !(link.type === 'symlink' && link.target === '/dev/null')
  }
  return false
}

export const membersFacts = (): Fact[] => [
  { kind: 'unit', name: machinesTarget },
  ...unitPath.map((place): Fact => ({ kind: 'path', path: wantsDirectory(place), entries: true })),
]

/** Every unit that starting the target would start: what lies on disk, and what systemd still has loaded (W2). */
export const targetMembers = (view: HostView): readonly string[] => {
  const target = view.systemd.ok ? view.unit(machinesTarget) : null
  return [
    ...new Set([
      ...unitPath.flatMap((place) => view.entries(wantsDirectory(place))),
      ...(target === null ? [] : [...target.list('Wants'), ...target.list('Requires')]),
    ]),
  ].sort()
}
