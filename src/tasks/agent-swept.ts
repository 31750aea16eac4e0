import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { lockRefusal } from './agent/activation-lock.ts'
import { resetFacts } from './reset/facts.ts'
import { keptFacts, keptFinding } from './reset/kept.ts'
import { leftFindings } from './reset/left.ts'
import { hostRefusal } from './reset/possible.ts'
import { sweep } from './reset/sweep.ts'
import { blocked, type Planned, planned, type Task } from './task.ts'

const params = z.strictObject({
  remove_host_routes: z
    .boolean()
    .default(false)
    .describe(
      'Also remove static-routes.service and check-route-overlap.service, whose scripts go anyway; their routes stay until the next boot',
    ),
})

/** Rule M8: both roots, whatever the agent's own reset has done and however it ended. */
export const agentSwept: Task<z.output<typeof params>> = {
  name: 'agent-swept',
  summary:
    "Nothing is left of the agent's units, workers, helpers, configuration and logs, nor of the table and interface of LocalDNS, in either root. The layout of its binaries stays as it is, also that of a host half moved, with .moving and .staging; other interfaces, routes and rules are listed and stay.",
  params,
  example: `name: sweep
description: Remove what an agent has left, without running anything of it
steps:
  - task: agent-stopped
  - task: agent-swept
    with: { remove_host_routes: true }
`,
  facts: (): Fact[] => mergeFacts([...resetFacts(), ...keptFacts()]),
  plan: (view, choice): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    const changes = sweep(view, choice)
    if ('code' in changes) return blocked(changes)
    const held = changes.length === 0 ? null : lockRefusal(view)
    if (held !== null) return blocked(held)
    return planned(changes, [...leftFindings(view), ...keptFinding(view)])
  },
}
