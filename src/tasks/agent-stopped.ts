import { z } from 'zod'
import type { Fact } from '../facts/fact.ts'
import { resetFacts } from './reset/facts.ts'
import { hostRefusal } from './reset/possible.ts'
import { readOnlyRefusal } from './reset/removal.ts'
import { agentStops } from './reset/stopped.ts'
import { blocked, type Planned, planned, type Task } from './task.ts'

const params = z.strictObject({})

/** O-4: nothing is looked up for a reset before the agent has stopped. */
export const agentStopped: Task<z.output<typeof params>> = {
  name: 'agent-stopped',
  summary:
    'The agent is stopped, and neither a boot nor a restart that it has queued itself starts it again. Workers run on.',
  params,
  example: `name: stop-agent
description: The agent does nothing until somebody enables and starts it
steps:
  - task: agent-stopped
`,
  facts: (): Fact[] => resetFacts(),
  plan: (view): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    const changes = agentStops(view)
    const stuck = readOnlyRefusal(view, changes)
    return stuck === null ? planned(changes) : blocked(stuck)
  },
}
