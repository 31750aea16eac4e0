import { z } from 'zod'
import type { Fact } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { lockRefusal } from './agent/activation-lock.ts'
import { fine, warning } from './agent/finding.ts'
import { agentUnit } from './agent/names.ts'
import { ROOT } from './agent/paths.ts'
import { trees } from './reset/belongings.ts'
import { mountsBelow, resetFacts } from './reset/facts.ts'
import { ownReset } from './reset/own-reset.ts'
import { hostRefusal, interfacesRefusal, isDeployed, ownResetBinary, ownResetShape } from './reset/possible.ts'
import { mountedRefusal } from './reset/removal.ts'
import { isUp } from './reset/stopped.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({
  ...ownResetShape,
  reset_timeout_s: z
    .number()
    .min(1)
    .max(86_400)
    .default(900)
    .describe("Seconds that the agent's own reset may take; stopping a worker and removing its files is a part of it"),
})

/** Rule M8: what a release has put on a host is best known by its own reset. What it leaves is for agent-swept. */
export const agentReset: Task<z.output<typeof params>> = {
  name: 'agent-reset',
  summary:
    "The agent's own reset has been run, where a binary of it can be used and something is left to reset; the agent must be stopped.",
  params,
  example: `name: own-reset
description: Only what the agent's own reset does
steps:
  - task: agent-stopped
  - task: agent-reset
    with: { reset_timeout_s: 900 }
`,
  facts: (): Fact[] => resetFacts(),
  plan: (view, choice): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    // Read before anything else: until the agent has stopped, nobody knows what will lie there.
    view.node(ROOT)
    const binary = ownResetBinary(view, choice)
    if (binary === null) return satisfied(notRun(view, choice.agent_reset))
    if (isUp(view, agentUnit)) return blocked(stillRuns)
    const against = lockRefusal(view) ?? mountedRefusal(view, trees, mountsBelow) ?? interfacesRefusal(view, choice)
    return against === null ? planned(ownReset(view, binary, choice.reset_timeout_s)) : blocked(against)
  },
}

const notRun = (view: HostView, isWanted: boolean): Finding[] => {
  if (!isDeployed(view)) return []
  const seen = { check: 'agent-reset-not-run', target: 'host' }
  const message = (why: string): string =>
    `the agent's own reset was not run: ${why}. Only what drover knows by name goes`
  return [
    {
      ...(isWanted
        ? warning({
            ...seen,
            message: message('no binary of it can be used'),
            remedy: 'Look at what else is told here: whatever a release puts elsewhere on a host is still there.',
          })
        : fine({ ...seen, message: message('it was not wanted') })),
      lasting: true,
    },
  ]
}

const stillRuns = {
  code: 'precondition-unmet',
  message: `${agentUnit} runs, and its reset would resolve its paths while it may still move them. Nothing was changed.`,
  remedy: 'Add a step agent-stopped before this one, as the playbook reset has it.',
} as const
