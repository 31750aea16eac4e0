import { z } from 'zod'
import type { Change, Expectation } from '../changes/change.ts'
import type { Fact } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { type Deployment, deploymentFacts, readDeployment } from './agent/deployment.ts'
import { containerdUnit, machinesTarget } from './agent/names.ts'
import { daemonStateFile, wantsDirectory } from './agent/paths.ts'
import type { Worker } from './agent/workers.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'
import { insideWorker } from './worker/kubelet.ts'
import { agentMissing, stateUnreadable, systemdSilent } from './worker/refusals.ts'
import { afterStartLimit } from './worker/start-room.ts'
import { seconds, workerAwaits } from './worker/waits.ts'

const params = z.strictObject({
  stable_s: seconds(15).describe(
    'Seconds the worker must stay up without a break; above the 10 s after which systemd restarts one that fails',
  ),
  within_s: seconds(120).describe('Seconds the host waits for that'),
})

type Params = z.infer<typeof params>

/**
 * The worker of the side that daemon-state.json names (domain.md 5.3). It starts that one unit and nothing
 * else: starting machines.target would start every enabled machine (W3), and no restart of the agent is needed.
 */
export const workerRunning: Task<Params> = {
  name: 'worker-running',
  summary: 'The enabled worker of the active side runs and stays up; one that was disabled on purpose stays stopped.',
  params,
  example: `name: bring-worker-back
description: Start the worker of the active side where it is down
steps:
  - task: worker-running
    with: { stable_s: 15 }
`,
  facts: (): Fact[] => deploymentFacts(),
  plan: (view, { stable_s, within_s }): Planned => {
    if (!view.systemd.ok) return blocked(systemdSilent(view.systemd.error))
    const deployment = readDeployment(view)
    if (!deployment.installed) return blocked(agentMissing)
    const dependency = containerdCause(deployment)
    if (dependency !== null) return blocked(dependency)
    const state = deployment.daemonState
    if (state === null || !state.ok) return blocked(stateUnreadable(deployment))
    const worker = deployment.worker(state.activeMachine)
    if (!worker.enabled) return satisfied(isStopped(worker) ? [stoppedOnPurpose(worker)] : [runsButDisabled(worker)])
    if (isUp(worker)) return satisfied()
    if (worker.masked) return blocked(maskedWorker(worker))
    return planned([
      ...afterStartLimit(view, worker.unit),
      {
        kind: 'systemctl',
        verb: 'start',
        unit: worker.unit,
        relies: reliesOn(view, worker),
        spoils: insideWorker(worker.machine),
        failure: workerDown(worker),
      },
      ...workerAwaits(view, worker, {
        stableMs: stable_s * 1000,
        withinMs: within_s * 1000,
        failure: workerDown(worker),
      }),
    ])
  },
}

const isUp = (worker: Worker): boolean => worker.activeState === 'active'
const isStopped = ({ activeState }: Worker): boolean => activeState === 'inactive' || activeState === 'failed'

/** Nobody may have disabled the worker or switched sides since the plan was made. */
const reliesOn = (view: HostView, worker: Worker): Expectation[] => {
  const link = `${wantsDirectory('/etc/systemd/system')}/${worker.unit}`
  const node = view.node(link)
  const digest = view.sha256(daemonStateFile)
  return [
    ...(node.type === 'symlink' ? [{ path: link, is: 'symlink', target: node.target } as const] : []),
    ...(digest === null ? [] : [{ path: daemonStateFile, is: 'file', sha256: digest } as const]),
  ]
}

const workerDown = (worker: Worker): NonNullable<Change['failure']> => ({
  code: 'worker-down',
  message: `${worker.unit} is enabled, was started, and does not run and stay up.`,
  remedy: `Its last journal lines are below. On the host: journalctl -u ${worker.unit}, machinectl status ${worker.machine}. drover never rebuilds a worker's file system.`,
})

const maskedWorker = (worker: Worker) =>
  ({
    code: 'precondition-unmet',
    message: `${worker.unit} is masked, so it cannot be started.`,
    remedy: `If that is not on purpose: systemctl unmask ${worker.unit}. drover never unmasks.`,
  }) as const

/** Row 3 of the reboot table: the agent waits for a containerd that failed. Restarting anything would hide it (W5). */
const containerdCause = (deployment: Deployment) => {
  const { service } = deployment
  if (
    service === null ||
    service.variant !== 'container' ||
    service.activeState === 'active' ||
    service.containerd === 'active'
  )
    return null
  return {
    code: 'dependency-failed',
    message: `The agent is ${service.activeState} because ${containerdUnit}, which it requires, is ${service.containerd}.`,
    remedy: `Mend containerd (journalctl -u ${containerdUnit}), start it, then start the agent. drover restarted nothing.`,
  } as const
}

const stoppedOnPurpose = ({ unit, machine }: Worker): Finding => ({
  check: 'worker-stopped',
  target: unit,
  severity: 'ok',
  message: `${unit} is disabled and stopped: somebody stopped it on purpose, so it stays stopped`,
  ignored: false,
  remedy: `To have it back: machinectl enable ${machine}, then run this again.`,
})

const runsButDisabled = ({ unit, machine }: Worker): Finding => ({
  check: 'worker-not-enabled',
  target: unit,
  severity: 'warning',
  message: `${unit} runs but is not enabled: the next boot will not start it, even with ${machinesTarget} up`,
  ignored: false,
  remedy: `If it is to stay: machinectl enable ${machine}.`,
})
