import { expect, test } from 'vitest'
import type { Armed } from '../../../src/facts/armed.ts'
import type { SelfFacts } from '../../../src/facts/state.ts'
import { armedRemedy } from '../../../src/tasks/agent/rollback-words.ts'

const armed: Armed = {
  phase: 'armed',
  run: 'r1',
  operator: 'ada',
  since: '2026-11-30T12:00:00Z',
  firesAtS: 100,
  candidate: 'aa',
  what: 'upgrade to v2',
  isProved: false,
}
const self = (more: Partial<SelfFacts> = {}): SelfFacts => ({
  lease: null,
  applying: null,
  owed: [],
  rollback: null,
  leftovers: [],
  ...more,
})
const lease = (run: string, ageS: number) => self({ lease: { run, owner: 'ada', since: '', ageS } })

test.each([
  ['its run holds the host', lease('r1', 5), true],
  ['an apply is under way', self({ applying: 'drover run r1 by ada' }), true],
  ['its run has not been heard of for long', lease('r1', 61), false],
  ['another run holds the host', lease('r2', 5), false],
  ['nobody does', self(), false],
])('whoever armed it is waited for first where it may be at work: %s', (_, seen, isWaitedFor) => {
  const remedy = armedRemedy(armed, seen, 'node7')
  expect(remedy.includes('wait for it first')).toBe(isWaitedFor)
  expect(remedy).toMatch(/drover confirm -l node7 .* drover rollback --now -l node7 /)
})
