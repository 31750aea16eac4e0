import { type Fact, mergeFacts } from '../../facts/fact.ts'
import type { SelfFacts } from '../../facts/state.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import type { Finding } from '../task.ts'
import { type Deployment, deploymentFacts, readDeployment } from './deployment.ts'
import { explain } from './explain.ts'
import { deploymentFindings, findingsFacts } from './findings.ts'
import { type HalfMoved, halfMovedFacts, readHalfMoved } from './half-moved.ts'
import type { HostRootState } from './host-root.ts'
import { type LinkedBecause, linkedFacts, readLinked } from './linked.ts'
import type { Machine } from './names.ts'
import { rollbackFindings } from './rollback-findings.ts'
import { rootRemedy } from './root-words.ts'
import type { Variant } from './service.ts'
import { signsFacts, statusSigns } from './status-signs.ts'
import { type Verdict, verdictOf } from './verdict.ts'
import { isRoot } from './visible.ts'
import type { Worker } from './workers.ts'

/** One host in `drover status`. Null: it could not be known, without root for instance; never a guess. */
export interface HostStatus {
  readonly host: string
  readonly os: string
  readonly systemdVersion: number | null
  readonly systemdError: string | null
  readonly agent: {
    readonly installed: boolean
    readonly variant: Variant | null
    readonly version: string | null
    readonly state: string | null
    readonly subState: string | null
    readonly result: string | null
    readonly enabled: boolean | null
  }
  readonly hostRoot: HostRootState
  readonly linked: LinkedBecause | null
  readonly move: HalfMoved | null
  readonly target: { readonly state: string; readonly fileState: string; readonly enabled: boolean } | null
  readonly worker: {
    readonly machine: Machine
    readonly unit: string
    readonly state: string | null
    readonly enabled: boolean
    /** The only enabled side, shown because nobody can say without root which one is active. */
    readonly isAssumed: boolean
  } | null
  /** Why the active worker is not known. */
  readonly stateError: string | null
  /** Further units that machines.target starts. */
  readonly others: readonly string[]
  readonly findings: readonly Finding[]
  readonly self: SelfFacts
  readonly verdict: Verdict
  readonly explanation: string
  /** What to do about the host root, where that is what is wrong; null elsewhere. */
  readonly remedy: string | null
  /** Name of the playbook that would put it right. */
  readonly fix: string | null
}

export const statusFacts = (_host: Host): Fact[] =>
  mergeFacts([...deploymentFacts(), ...findingsFacts(), ...linkedFacts(), ...halfMovedFacts(), ...signsFacts()])

export const assess = (view: HostView, host: Host): HostStatus => {
  const deployment = readDeployment(view)
  const seen = {
    host: host.name,
    os: `${view.os.id} ${view.os.versionId}`.trim(),
    systemdVersion: view.os.systemdVersion > 0 ? view.os.systemdVersion : null,
    systemdError: view.systemd.ok ? null : view.systemd.error,
    agent: agentOf(deployment),
    hostRoot: deployment.hostRoot,
    linked: isRoot(view) && deployment.hostRoot === 'LINKED' ? readLinked(view) : null,
    move: readHalfMoved(view, deployment.hostRoot),
    target: targetOf(deployment),
    worker: workerOf(deployment),
    stateError: deployment.daemonState?.ok === false ? deployment.daemonState.error : null,
    others: deployment.others,
    findings: [...deploymentFindings(view, host), ...rollbackFindings(view, host)],
    self: view.self,
  }
  const roots = { move: seen.move?.how ?? null, linked: seen.linked }
  const { verdict, fix } = verdictOf(statusSigns(view, deployment, roots))
  return { ...seen, verdict, explanation: explain(verdict, seen), remedy: rootRemedy(verdict, seen.hostRoot), fix }
}

const agentOf = (deployment: Deployment): HostStatus['agent'] => {
  const service = deployment.service
  return {
    installed: deployment.installed,
    variant: service?.variant ?? null,
    version: deployment.version,
    state: service?.activeState ?? null,
    subState: service?.subState ?? null,
    result: service?.result ?? null,
    enabled: service?.enabled ?? null,
  }
}

const targetOf = ({ target }: Deployment): HostStatus['target'] =>
  target && { state: target.activeState, fileState: target.unitFileState, enabled: target.enabled }

const onlyEnabled = ({ workers }: Deployment): Worker | undefined => {
  const enabled = workers.filter((worker) => worker.enabled)
  return enabled.length === 1 ? enabled[0] : undefined
}

const workerOf = (deployment: Deployment): HostStatus['worker'] => {
  const state = deployment.daemonState
  // Without root nobody can say which side is the active one, but the only one that is enabled can be shown.
  const only = state === null ? onlyEnabled(deployment) : undefined
  const worker = state?.ok === true ? deployment.worker(state.activeMachine) : only
  if (worker === undefined) return null
  const { machine, unit, activeState, enabled } = worker
  return { machine, unit, state: activeState, enabled, isAssumed: only !== undefined }
}
