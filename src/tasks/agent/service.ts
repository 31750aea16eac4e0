import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, containerdUnit } from './names.ts'
import { agentUnitFile, dropInFile } from './paths.ts'

export type Variant = 'host' | 'container'

/** The agent's unit as systemd has it. */
export interface AgentService {
  /** W5: measured on the host, never taken from the inventory. */
  readonly variant: Variant
  readonly activeState: string
  readonly subState: string
  readonly result: string
  /** A boot starts it. */
  readonly enabled: boolean
  readonly mainPid: string
  /** What MainPID runs; empty when nothing runs. */
  readonly exe: string
  /** Of containerd; only the container variant depends on it. */
  readonly containerd: string
}

export const serviceFacts = (): Fact[] => [
  { kind: 'unit', name: agentUnit },
  { kind: 'unit', name: containerdUnit },
  { kind: 'path', path: agentUnitFile },
  { kind: 'path', path: dropInFile, content: 4096, sha256: true },
]

/** Rule M1: the agent counts as installed while its unit is there, in whatever state. */
export const isInstalled = (view: HostView): boolean => {
  const file = view.node(agentUnitFile)
  const mask = file.type === 'symlink' && file.target === '/dev/null'
  return (file.type !== 'absent' && !mask) || (view.systemd.ok && view.unit(agentUnit).isLoaded)
}

/** Null where no agent is installed or systemd does not answer. */
export const readService = (view: HostView): AgentService | null => {
  if (!view.systemd.ok || !isInstalled(view)) return null
  const unit = view.unit(agentUnit)
  return {
    get variant() {
      return [...unit.list('Requires'), ...unit.list('Wants')].includes(containerdUnit) ? 'container' : 'host'
    },
    get activeState() {
      return unit.get('ActiveState')
    },
    get subState() {
      return unit.get('SubState')
    },
    get result() {
      return unit.get('Result')
    },
    get enabled() {
      return unit.get('UnitFileState') === 'enabled'
    },
    get mainPid() {
      return unit.get('MainPID')
    },
    get exe() {
      return unit.exe
    },
    get containerd() {
      return view.unit(containerdUnit).get('ActiveState')
    },
  }
}
