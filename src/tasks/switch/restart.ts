import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit } from '../agent/names.ts'
import { type HostRoot, hostRootAgents, recoveryScript, recoveryUnitFile, upgradeSignalFile } from '../agent/paths.ts'
import { agentWantsTarget } from '../agent/target.ts'
import { isAllowed, untouched, wouldStartOthers, writtenByAgent } from '../worker/healing-restart.ts'
import { wouldStart } from '../worker/others.ts'
import { afterStartLimit, startRoom } from '../worker/start-room.ts'
import { healthTimeoutS, type Limits } from './limits.ts'
import type { Ready } from './ready.ts'
import { needsReload, writesAgentUnit } from './unit-files.ts'

/** How the agent is brought to run what was switched: room in its start limit, the start, and the proof. */
export interface Restart {
  /** Before anything is armed: to wait for the start limit may take minutes (U7). */
  readonly room: readonly Change[]
  readonly start: readonly Change[]
  readonly awaits: readonly Change[]
}

/** Rule U5: an agent that somebody stopped stays stopped, so nothing is started and nothing can be waited for. */
export const isStopped = ({ service }: Ready): boolean => service.activeState === 'inactive'

const nothing: Restart = { room: [], start: [], awaits: [] }

/** `exe`: what MainPID must then be running, by its real path. */
export const restartOf = (
  view: HostView,
  ready: Ready,
  wanted: { readonly limits: Limits; readonly exe: string; readonly units: readonly Change[] },
): Restart | ErrorDetails => {
  if (isStopped(ready)) return nothing
  const others = startedAlong(view, ready, wanted.units).filter((unit) => !isAllowed(unit, wanted.limits.allow_start))
  if (others.length > 0) return wouldStartOthers(others)
  const failed = ready.service.activeState === 'failed'
  const room = startRoom(view, agentUnit, needsReload(wanted.units))
  return {
    room: room.length > 0 || !failed ? room : afterStartLimit(view, agentUnit),
    start: [
      {
        kind: 'systemctl',
        verb: failed ? 'start' : 'restart',
        unit: agentUnit,
        spoils: writtenBelow(ready.layout.root),
      },
    ],
    awaits: awaitsOf(view, ready, wanted.limits, wanted.exe),
  }
}

/** Rule W2: a restart of an agent that wants the target starts that, and with it every enabled machine. */
const startedAlong = (view: HostView, { deployment }: Ready, units: readonly Change[]): readonly string[] =>
  (agentWantsTarget(view) || writesAgentUnit(units)) && deployment.target?.activeState !== 'active'
    ? wouldStart(view, deployment)
    : []

/**
 * A starting agent also notes its digest, and may take up an upgrade that the cluster asked for. Its script of the recovery
 * stands here by itself, since of such files the host keeps how they were.
 */
export const writtenBelow = (root: HostRoot): readonly string[] => [
  ...writtenByAgent,
  ...[recoveryUnitFile, recoveryScript(root), hostRootAgents, upgradeSignalFile].map((path) => `path:${path}`),
]

const awaitsOf = (view: HostView, { deployment }: Ready, limits: Limits, exe: string): Change[] => {
  const asked = { kind: 'await', stableMs: 0, withinMs: limits.health_within_s * 1000, failure: refusedByUser } as const
  return [
    {
      kind: 'await',
      condition: { unit: agentUnit, is: 'running-from', exe },
      stableMs: limits.stable_s * 1000,
      withinMs: (limits.within_s + limits.stable_s) * 1000,
      failure: notUp(limits.stable_s),
    },
    // Rule W4: what ran in the workers must not have noticed.
    ...deployment.workers
      .filter(({ activeState }) => activeState === 'active')
      .map((worker) => untouched(view, worker)),
    ...(limits.health_command === null
      ? []
      : [
          {
            ...asked,
            condition: { command: limits.health_command, is: 'succeeding', timeoutS: healthTimeoutS(limits) },
          } as const,
        ]),
    ...(limits.health_url === null
      ? []
      : [
          {
            ...asked,
            condition: { url: limits.health_url, is: 'answering', timeoutS: healthTimeoutS(limits) },
          } as const,
        ]),
  ]
}

const notUp = (stableS: number): NonNullable<Change['failure']> => ({
  code: 'agent-unhealthy',
  message: `${agentUnit} does not run what it was switched to, or does not stay up for ${stableS} s.`,
  remedy: `Its last journal lines say why. On the host: journalctl -u ${agentUnit}.`,
})

const refusedByUser: NonNullable<Change['failure']> = {
  code: 'agent-unhealthy',
  message: 'The agent stays up, and the check of your own (health_command or health_url) does not come out well.',
  remedy: 'Run the check by hand on the host to see what it says of the new agent, or of itself.',
}
