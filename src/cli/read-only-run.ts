import { randomBytes } from 'node:crypto'
import { createMachines } from '../runner/machines.ts'
import type { Run } from '../runner/run.ts'
import type { WholeContext } from './context.ts'
import { operatorOf } from './operator.ts'

/** A run of a verb that only looks: without a journal, and with no changes that could want more time. */
export const readOnlyRun = (
  context: WholeContext,
  verb: 'status' | 'collect',
  shared: Pick<Run, 'transport' | 'becomeOf' | 'forks' | 'softStop' | 'hardStop'>,
): Run => ({
  // It stands in the hosts' auth logs, as the ids of runs do.
  id: `${verb}-${randomBytes(2).toString('hex')}`,
  operator: operatorOf(context),
  reason: null,
  mode: 'check',
  tasks: context.tasks,
  becomeOf: shared.becomeOf,
  deadlines: { inspectMs: 120_000, applyGraceMs: 0, reconnectMs: 30_000, backoffMs: 500, stallMs: 30_000 },
  machines: createMachines(),
  sink: () => {},
  transport: shared.transport,
  forks: shared.forks,
  softStop: shared.softStop,
  hardStop: shared.hardStop,
})
