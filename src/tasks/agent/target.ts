import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, machinesTarget } from './names.ts'
import { persistentUnitPath, wantsDirectory } from './paths.ts'

export interface Target {
  readonly loadState: string
  readonly activeState: string
  readonly unitFileState: string
  readonly masked: boolean
  readonly missing: boolean
  /** A boot starts it by itself: the link on disk, not systemd's cached word. */
  readonly enabled: boolean
}

const bootLink = (place: string): string => `${wantsDirectory(place, 'multi-user.target')}/${machinesTarget}`

export const targetFacts = (): Fact[] => [
  { kind: 'unit', name: machinesTarget },
  { kind: 'unit', name: agentUnit },
  ...persistentUnitPath.map((place): Fact => ({ kind: 'path', path: bootLink(place) })),
]

/** Null where systemd does not answer. */
export const readTarget = (view: HostView): Target | null => {
  if (!view.systemd.ok) return null
  const unit = view.unit(machinesTarget)
  return {
    get loadState() {
      return unit.get('LoadState')
    },
    get activeState() {
      return unit.get('ActiveState')
    },
    get unitFileState() {
      return unit.get('UnitFileState')
    },
    get masked() {
      return unit.get('LoadState') === 'masked' || unit.get('UnitFileState').startsWith('masked')
    },
    get missing() {
      return unit.get('LoadState') === 'not-found'
    },
    get enabled() {
      return persistentUnitPath.some((place) => view.node(bootLink(place)).type !== 'absent')
    },
  }
}

/** Rule W1: what counts is the effective property, whichever file it comes from. */
export const agentWantsTarget = (view: HostView): boolean => view.unit(agentUnit).list('Wants').includes(machinesTarget)
