import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { deploymentFacts, readDeployment } from './agent/deployment.ts'
import { layoutFacts } from './agent/layout.ts'
import { daemonStateFile } from './agent/paths.ts'
import { hostFacts, hostRefusal } from './install/host-fit.ts'
import { joinChanges, joinFacts } from './install/join.ts'
import { layoutRoot } from './install/root.ts'
import { joinedOnce, signsOfJoinFacts } from './install/signs-of-join.ts'
import { agentAwaits, startedAlong, startLimitsShape } from './install/start.ts'
import { unsettledRoot } from './switch/unsettled-root.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'
import { agentMissing, stateUnreadable } from './worker/refusals.ts'

const params = z.strictObject({
  join: z.boolean().default(true).describe('false: the host is left as it is, joined or not'),
  timeout_s: z
    .number()
    .int()
    .min(60)
    .max(7200)
    .default(1800)
    .describe('Seconds after which the join is stopped and has failed: it downloads a whole root file system'),
  ...startLimitsShape,
})

type Params = z.infer<typeof params>

/**
 * The agent's own `start` (domain.md 2.4): it registers the machine, provisions the worker, and starts its own unit at
 * the end. Opaque, so what it did is read off the host: its exit status is 0 even when somebody stopped it.
 */
export const agentJoined: Task<Params> = {
  name: 'agent-joined',
  summary: "The host has joined its cluster: the agent's own `start` has run, and says which worker is the active one.",
  params,
  example: `name: join
description: Hosts with an installed agent join their cluster
steps:
  - task: agent-joined
    with: { timeout_s: 3600 }
`,
  facts: (): Fact[] =>
    mergeFacts([
      ...deploymentFacts(),
      ...layoutFacts(),
      ...joinFacts(),
      ...signsOfJoinFacts(),
      ...hostFacts(),
      ...activationLockFacts(),
    ]),
  plan: (view, { join, timeout_s, ...limits }, host): Planned => {
    if (!join) return satisfied()
    const refusal = hostRefusal(view, host)
    if (refusal !== null) return blocked(refusal)
    const deployment = readDeployment(view)
    if (!deployment.installed) return blocked(agentMissing)
    if (deployment.daemonState?.ok === true) return satisfied()
    // What is there and cannot be read is a host that had joined: another join could cost it its worker.
    if (view.node(daemonStateFile).type !== 'absent') return blocked(stateUnreadable(deployment))
    const again = joinedOnce(view, deployment)
    if (again !== null) return blocked(again)
    const root = layoutRoot(deployment.hostRoot)
    if (root === null) return blocked(unsettledRoot(view, deployment.hostRoot))
    const unready = lockRefusal(view) ?? startedAlong(view, deployment, limits.allow_start)
    return unready === null
      ? planned([...joinChanges(root, timeout_s), ...agentAwaits(view, root, limits)])
      : blocked(unready)
  },
}
