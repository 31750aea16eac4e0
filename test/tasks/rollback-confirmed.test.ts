import { expect, test } from 'vitest'
import type { SelfFacts } from '../../src/facts/state.ts'
import { rollbackConfirmed } from '../../src/tasks/rollback-confirmed.ts'
import { planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'

const owner = 'r0 ada@desk 2026-11-30T10:00:00Z 200 abc upgrade to v2'
const line = (how: string): string => `r0 ada@desk 2026-11-30T10:00:00Z ${how} 2026-11-30T10:01:00Z upgrade to v2`
const on = (phase: NonNullable<SelfFacts['rollback']>['phase'], text: string): HostLiteral => ({
  self: { rollback: { phase, text } },
})

test.each<[string, HostLiteral, ReturnType<typeof result>]>([
  ['armed', on('armed', owner), ['disarm the rollback of run r0']],
  ['armed, by nobody knows whom', on('armed', ''), { blocked: 'precondition-unmet' }],
  ['under way', on('undoing', owner), { blocked: 'rollback-armed' }],
  ['over', on('rolled-back', line('rolled-back')), { blocked: 'rolled-back' }],
  [
    'over, with an agent that does not stay up',
    on('rolled-back', line('rolled-back-not-up')),
    { blocked: 'rollback-failed' },
  ],
  ['over, and nothing was undone', on('rolled-back', line('superseded')), []],
  ['none', {}, []],
  ['not to be seen', { os: { uid: 1000 } }, { blocked: 'precondition-unmet' }],
])('%s', (_, host, wanted) => expect(result(rollbackConfirmed, {}, host)).toEqual(wanted))

test('what is too late says so, and how it is going on', () => {
  expect(refusal(rollbackConfirmed, {}, on('undoing', owner))).toMatch(
    /upgrade to v2 of run r0.*rollback --now -l node-1/,
  )
  expect(refusal(rollbackConfirmed, {}, on('rolled-back', line('rolled-back')))).toContain('at 2026-11-30T10:01:00Z')
})

test('where nothing is armed that is a good finding', () => {
  expect(planOn(rollbackConfirmed, {}, stateFor(rollbackConfirmed, {}, {}))).toMatchObject({
    findings: [{ check: 'rollback', severity: 'ok', message: 'none is armed' }],
  })
})
