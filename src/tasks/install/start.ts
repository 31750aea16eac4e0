import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { Deployment } from '../agent/deployment.ts'
import { agentUnit } from '../agent/names.ts'
import { configDirectory, type HostRoot, LEGACY, layoutEntry, movingMark, recoveryUnitFile } from '../agent/paths.ts'
import { isAllowed, untouched, wouldStartOthers, writtenByAgent } from '../worker/healing-restart.ts'
import { wouldStart } from '../worker/others.ts'
import { afterStartLimit, startRoom } from '../worker/start-room.ts'
import { seconds } from '../worker/waits.ts'

/** Parameters of every task that starts an agent for the first time, and waits for it. */
export const startLimitsShape = {
  stable_s: seconds(45).describe(
    'Seconds the agent must stay up without a break after a start; above the 30 s after which systemd restarts one that fails',
  ),
  within_s: seconds(60).describe('Seconds the host waits for it to be up'),
  allow_start: z
    .array(z.string())
    .default([])
    .describe('Units of machines.target.wants, or machine names, that may start along with the agent'),
} as const

interface StartLimits {
  readonly stable_s: number
  readonly within_s: number
  readonly allow_start: readonly string[]
}

/** Rule W2: an agent that starts wants machines.target, and that starts every machine that is enabled. */
export const startedAlong = (
  view: HostView,
  deployment: Deployment,
  allowed: readonly string[],
): ErrorDetails | null => {
  if (deployment.target?.activeState === 'active') return null
  const others = wouldStart(view, deployment).filter((unit) => !isAllowed(unit, allowed))
  return others.length === 0 ? null : wouldStartOthers(others)
}

/** What a starting agent writes by itself, its note of its own digest and its state among it. */
export const writtenByStart: readonly string[] = [
  ...writtenByAgent,
  `path:${recoveryUnitFile}`,
  `path:${configDirectory}`,
]

export const agentStart = (view: HostView, deployment: Deployment, root: HostRoot, limits: StartLimits): Change[] => {
  const room = startRoom(view, agentUnit, false)
  return [
    ...(room.length > 0 ? room : afterStartLimit(view, agentUnit)),
    { kind: 'systemctl', verb: 'start', unit: agentUnit, spoils: writtenByStart },
    ...agentAwaits(view, root, limits),
    // Rule W4: what runs in the workers must not have noticed.
    ...deployment.workers
      .filter(({ activeState }) => activeState === 'active')
      .map((worker) => untouched(view, worker)),
  ]
}

/** A move takes two starts of the agent, the second up to a minute after the first, and its files must be copied (M5). */
const moveWithinMs = 240_000

/**
 * Up and staying up. From /usr/local an agent may move to the new root at its first start and then runs another file;
 * so it is waited for until that is over, and the next look at the host says what it runs.
 */
export const agentAwaits = (view: HostView, root: HostRoot, { stable_s, within_s }: StartLimits): Change[] => {
  const exe = view.realPath(layoutEntry(root, 'current'))
  const wait = {
    kind: 'await',
    stableMs: stable_s * 1000,
    withinMs: (within_s + stable_s) * 1000,
    failure: notUp(stable_s),
  } as const
  if (root !== LEGACY) return [{ ...wait, condition: { unit: agentUnit, is: 'running-from', exe } }]
  return [
    { ...wait, condition: { unit: agentUnit, is: 'active' } },
    {
      ...wait,
      condition: { command: ['test', '!', '-e', movingMark], is: 'succeeding', timeoutS: 5 },
      stableMs: 0,
      withinMs: moveWithinMs,
      failure: stillMoving,
    },
  ]
}

const notUp = (stableS: number): NonNullable<Change['failure']> => ({
  code: 'agent-unhealthy',
  message: `${agentUnit} does not come up, or does not stay up for ${stableS} s.`,
  remedy: `Its last journal lines say why. On the host: journalctl -u ${agentUnit}.`,
})

const stillMoving: NonNullable<Change['failure']> = {
  code: 'agent-unhealthy',
  message: `The agent began to move its files to the new root at its first start, and has not finished: ${movingMark} is there.`,
  remedy: `Its next start goes on with it. Look at journalctl -u ${agentUnit}; then run again. Never delete the mark by hand.`,
}
