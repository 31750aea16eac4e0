import type { Change, Expectation } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { Deployment } from '../agent/deployment.ts'
import { agentUnit, machinesTarget } from '../agent/names.ts'
import { agentUnitFile, daemonStateFile, unitDirectory, wantsDirectory } from '../agent/paths.ts'
import type { Worker } from '../agent/workers.ts'
import { alreadyRunning, wouldStart } from './others.ts'
import { stateUnreadable } from './refusals.ts'
import { startRoom } from './start-room.ts'
import { workerAwaits } from './waits.ts'
import { writtenWiring } from './wiring.ts'

interface Wanted {
  readonly allow_start: readonly string[]
  readonly stable_s: number
  readonly within_s: number
}

/**
 * A restart of the agent starts an inactive machines.target and with it the workers that are enabled; while the
 * target is active it starts none (domain.md 5.2). So it is planned only where it heals: agent up, target down,
 * the active side's worker enabled and down. Afterwards every worker that ran must still be the same process,
 * and the wanted one must be up (W4).
 */
export const healingRestart = (
  view: HostView,
  deployment: Deployment,
  wanted: Wanted,
  hasReload: boolean,
): Change[] | ErrorDetails => {
  const { service, target, daemonState } = deployment
  if (service?.activeState !== 'active' || target?.activeState === 'active') return []
  if (daemonState === null || !daemonState.ok) return stateUnreadable(deployment)
  const worker = deployment.worker(daemonState.activeMachine)
  if (!worker.enabled || worker.masked || worker.activeState === 'active' || isOnItsWay(worker)) return []
  const others = wouldStart(view, deployment).filter((unit) => !isAllowed(unit, wanted.allow_start))
  if (others.length > 0) return wouldStartOthers(others)
  const limits = { stableMs: wanted.stable_s * 1000, withinMs: wanted.within_s * 1000 }
  return [
    ...startRoom(view, agentUnit, hasReload),
    { kind: 'systemctl', verb: 'restart', unit: agentUnit, spoils: writtenByAgent, relies: reliesOn(view, deployment) },
    {
      kind: 'await',
      condition: { unit: agentUnit, is: 'active' },
      stableMs: limits.stableMs,
      withinMs: limits.stableMs + limits.withinMs,
    },
    ...workerAwaits(view, worker, { ...limits, failure: workerDown(worker) }),
    ...deployment.workers
      .filter(({ activeState }) => activeState === 'active')
      .map((running) => untouched(view, running)),
  ]
}

/** What decided whom the restart starts: waiting for room may take minutes, and an operator may enable a machine meanwhile. */
const reliesOn = (view: HostView, deployment: Deployment): Expectation[] => {
  const wants = wantsDirectory(unitDirectory)
  const digest = view.sha256(daemonStateFile)
  return [
    { unit: machinesTarget, property: 'ActiveState', value: view.unit(machinesTarget).get('ActiveState') },
    ...alreadyRunning(view, deployment).map((unit) => ({ unit, property: 'ActiveState', value: 'active' }) as const),
    ...(view.target(wants).type === 'directory' ? [{ directory: wants, holds: view.entries(wants) }] : []),
    ...(digest === null ? [] : [{ path: daemonStateFile, is: 'file', sha256: digest } as const]),
  ]
}

/** Between two attempts of a start that keeps failing a worker is down, not on its way. */
const isOnItsWay = ({ activeState, subState }: Worker): boolean =>
  activeState === 'activating' && subState !== 'auto-restart'

/** A starting agent writes its own units and may move its files: what they hold is unknown afterwards (mechanisms.md 6.3). */
export const writtenByAgent = [
  writtenWiring,
  `path:${agentUnitFile}`,
  'path:/opt/unbounded/agent',
  'path:/usr/local/lib/aks-flex-node',
  'path:/usr/local/bin/aks-flex-node',
]

export const isAllowed = (unit: string, allowed: readonly string[]): boolean =>
  allowed.some((name) => name === unit || `systemd-nspawn@${name}.service` === unit)

export const wouldStartOthers = (others: readonly string[]): ErrorDetails => ({
  code: 'would-start-others',
  message: `Starting ${machinesTarget} would also start ${others.join(', ')}, which is not the active worker.`,
  remedy: `Disable what must not run (machinectl disable NAME), allow it with --allow-start NAME, or bring back the one worker with the playbook remediate.`,
})

const workerDown = ({ unit, machine }: Worker): NonNullable<Change['failure']> => ({
  code: 'worker-down',
  message: `The agent was restarted, which starts ${machinesTarget}, but ${unit} does not run and stay up. The wiring is kept.`,
  remedy: `Its last journal lines are below. On the host: journalctl -u ${unit}, machinectl status ${machine}.`,
})

export const untouched = (view: HostView, { unit }: Worker): Change => ({
  kind: 'await',
  condition: { unit, is: 'untouched', mainPid: view.unit(unit).get('MainPID') },
  stableMs: 0,
  withinMs: 2000,
  failure: {
    code: 'worker-leader-changed',
    message: `${unit} ran before the agent's restart and is not the same process any more.`,
    remedy: `Something restarted the worker along with the agent. Look at journalctl -u ${unit} and at what depends on ${agentUnit}.`,
  },
})
