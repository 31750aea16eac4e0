import { type Fact, mergeFacts } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { type AgentConfig, configFacts, readConfig } from './config.ts'
import { type DaemonState, daemonStateFacts, readDaemonState } from './daemon-state.ts'
import { type HostRootState, hostRootState } from './host-root.ts'
import { hostRootFacts, hostRootSigns } from './host-root-signs.ts'
import { imageMount, type Machine, machines, workerUnits } from './names.ts'
import { type AgentService, isInstalled, readService, serviceFacts, type Variant } from './service.ts'
import { readTarget, type Target, targetFacts } from './target.ts'
import { readUpgradeSignal, type UpgradeSignal, upgradeSignalFacts } from './upgrade-signal.ts'
import { readVersion, versionFacts } from './version.ts'
import { isRoot } from './visible.ts'
import { membersFacts, readWorker, targetMembers, type Worker, workerFacts } from './workers.ts'

/**
 * What is deployed on a host. Every field is read when it is asked for, so a task that reads only the
 * active side does not end its segment over a MainPID that a restart made unknown.
 * Null: it cannot be known without root, without an agent, or without an answer from systemd.
 */
export interface Deployment {
  readonly installed: boolean
  readonly variant: Variant | null
  readonly version: string | null
  readonly service: AgentService | null
  readonly hostRoot: HostRootState
  readonly daemonState: DaemonState | null
  readonly config: AgentConfig | null
  readonly signal: UpgradeSignal | null
  readonly target: Target | null
  worker(machine: Machine): Worker
  readonly workers: readonly Worker[]
  /** Units of machines.target.wants that are neither side of the worker: an operator's own. */
  readonly others: readonly string[]
}

export const deploymentFacts = (): Fact[] =>
  mergeFacts([
    ...serviceFacts(),
    ...versionFacts(),
    ...hostRootFacts(),
    ...daemonStateFacts(),
    ...configFacts(),
    ...upgradeSignalFacts(),
    ...targetFacts(),
    ...workerFacts(),
    ...membersFacts(),
  ])

export const readDeployment = (view: HostView): Deployment => ({
  get installed() {
    return isInstalled(view)
  },
  get variant() {
    return readService(view)?.variant ?? null
  },
  get version() {
    return readVersion(view, hostRootState(hostRootSigns(view)))
  },
  get service() {
    return readService(view)
  },
  get hostRoot() {
    return hostRootState(hostRootSigns(view))
  },
  get daemonState() {
    return isRoot(view) ? readDaemonState(view) : null
  },
  get config() {
    return isRoot(view) ? readConfig(view) : null
  },
  get signal() {
    return isRoot(view) ? readUpgradeSignal(view) : null
  },
  get target() {
    return readTarget(view)
  },
  worker: (machine) => readWorker(view, machine),
  get workers() {
    return machines.map((machine) => readWorker(view, machine))
  },
  get others() {
    return targetMembers(view).filter((name) => !workerUnits.includes(name) && name !== imageMount)
  },
})
