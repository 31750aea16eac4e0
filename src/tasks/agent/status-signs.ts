import type { Fact } from '../../facts/fact.ts'
import { holderOf } from '../../facts/holder.ts'
import type { HostView } from '../../facts/view.ts'
import { wiring, wiringFacts } from '../worker/wiring.ts'
import type { Deployment } from './deployment.ts'
import type { AgentService } from './service.ts'
import type { Target } from './target.ts'
import type { StatusSigns } from './verdict.ts'
import type { Worker } from './workers.ts'

export const signsFacts = (): Fact[] => wiringFacts()

/** How the host stands between the two roots. */
export type Roots = Pick<StatusSigns, 'move' | 'linked'>

export const statusSigns = (view: HostView, deployment: Deployment, roots: Roots): StatusSigns => {
  const { service, target, daemonState, hostRoot } = deployment
  const worker = daemonState?.ok === true ? deployment.worker(daemonState.activeMachine) : null
  return {
    systemd: view.systemd.ok,
    busy: holderOf(view.self) !== null,
    rollback: view.self.rollback?.phase ?? null,
    owed: view.self.owed.length > 0,
    installed: deployment.installed,
    variant: service?.variant ?? 'host',
    agent: agentState(service),
    agentEnabled: service?.enabled ?? false,
    containerdActive: service?.containerd === 'active',
    hostRoot,
    ...roots,
    target: targetState(target),
    targetEnabled: target?.enabled ?? false,
    wired: view.systemd.ok && deployment.installed && isWired(view),
    state: daemonState === null ? 'unseen' : daemonState.ok ? 'ok' : 'damaged',
    worker: workerState(worker),
    workerEnabled: worker?.enabled ?? false,
    workerMasked: worker?.masked ?? false,
  }
}

// The task's own judgement, so that status never offers a playbook that would then change nothing.
const isWired = (view: HostView): boolean => {
  const missing = wiring(view)
  return !('code' in missing) && missing.length === 0
}

const agentState = (service: AgentService | null): StatusSigns['agent'] => {
  switch (service?.activeState) {
    case 'active':
    case 'reloading':
      return 'active'
    case 'failed':
      return 'failed'
    default:
      return 'down'
  }
}

const targetState = (target: Target | null): StatusSigns['target'] => {
  if (target === null || target.missing) return 'missing'
  if (target.masked) return 'masked'
  return target.activeState === 'active' ? 'active' : 'inactive'
}

// A worker between two attempts of a start that keeps failing is down, not starting.
const workerState = (worker: Worker | null): StatusSigns['worker'] => {
  if (worker?.activeState === 'active') return 'active'
  return worker?.activeState === 'activating' && worker.subState !== 'auto-restart' ? 'starting' : 'down'
}
