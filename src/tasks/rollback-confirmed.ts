import { z } from 'zod'
import type { ErrorDetails } from '../errors.ts'
import { type Armed, armedOf, type RolledBack, rolledBackOf } from '../facts/armed.ts'
import { rollbackUnreadable, rollbackUnseen } from './agent/armed-refusals.ts'
import { fine } from './agent/finding.ts'
import { notUpRemedy, rolledBackWords, undoingRemedy } from './agent/rollback-words.ts'
import { isRoot } from './agent/visible.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({})

type Params = z.infer<typeof params>

export const rollbackConfirmed: Task<Params> = {
  name: 'rollback-confirmed',
  summary: 'No rollback waits on the host: one that a run armed is disarmed, and what it guards stays.',
  params,
  example: `name: keep-it
description: What a run switched before it died was looked at by hand, and stays
steps:
  - task: rollback-confirmed
`,
  facts: () => [],
  plan: (view, _params, host): Planned => {
    if (!isRoot(view)) return blocked(rollbackUnseen)
    const armed = armedOf(view.self)
    if (armed?.phase === 'undoing') return blocked(tooLate(armed, host.name))
    if (armed !== null)
      return armed.run === '' ? blocked(rollbackUnreadable) : planned([{ kind: 'confirm', run: armed.run }])
    const undone = rolledBackOf(view.self)
    if (undone?.how === 'rolled-back') return blocked(undoneBefore(undone))
    if (undone?.how === 'rolled-back-not-up') return blocked(undoneNotUp(undone, host.name))
    return satisfied([fine({ check: 'rollback', target: 'rollback', message: 'none is armed' })])
  },
}

const tooLate = ({ what, run }: Armed, host: string): ErrorDetails => ({
  code: 'rollback-armed',
  message: `It is too late to confirm the ${what} of run ${run}: the host is already undoing it.`,
  remedy: undoingRemedy(host),
})

const undoneBefore = ({ what, run, at }: { what: string; run: string; at: string }): ErrorDetails => ({
  code: 'rolled-back',
  message: `There is nothing left to confirm: the ${what} of run ${run} was rolled back at ${at}.`,
  remedy: 'The host is back on what it ran before. Make the change again, if it is still wanted.',
})

const undoneNotUp = (undone: RolledBack, host: string): ErrorDetails => ({
  code: 'rollback-failed',
  message: `There is nothing left to confirm: ${rolledBackWords(undone)}.`,
  remedy: notUpRemedy(host),
})
