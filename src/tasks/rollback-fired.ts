import { z } from 'zod'
import { armedOf } from '../facts/armed.ts'
import { rollbackUnreadable, rollbackUnseen } from './agent/armed-refusals.ts'
import { fine } from './agent/finding.ts'
import { agentUnit, machinesTarget, workerUnits } from './agent/names.ts'
import { configDirectory, hostRoots, unitDirectory } from './agent/paths.ts'
import { isRoot } from './agent/visible.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({
  within_s: z
    .number()
    .int()
    .min(10)
    .max(7200)
    .default(600)
    .describe('Seconds the host may take to be back on what it ran before'),
})

type Params = z.infer<typeof params>

/** Whatever a guarded change of the agent may have touched, and what an agent that is started touches by itself. */
const spoils = [
  ...[...hostRoots, configDirectory, unitDirectory].map((path) => `path:${path}`),
  ...[agentUnit, machinesTarget, ...workerUnits].map((unit) => `unit:${unit}`),
]

export const rollbackFired: Task<Params> = {
  name: 'rollback-fired',
  summary: 'No rollback waits on the host: one that a run armed is fired, and the host is back on what it ran before.',
  params,
  example: `name: undo-it
description: What a run switched before it died is undone at once
steps:
  - task: rollback-fired
    with: { within_s: 900 }
`,
  facts: () => [],
  plan: (view, { within_s }): Planned => {
    if (!isRoot(view)) return blocked(rollbackUnseen)
    const armed = armedOf(view.self)
    if (armed === null) return satisfied([fine({ check: 'rollback', target: 'rollback', message: 'none is armed' })])
    if (armed.run === '') return blocked(rollbackUnreadable)
    return planned([{ kind: 'fire', run: armed.run, withinMs: within_s * 1000, spoils }])
  },
}
