import { expect, test } from 'vitest'
import type { HostPlan, StepPlan } from '../../src/runner/plan.ts'
import { recall } from '../../src/runner/recall.ts'
import type { Finding } from '../../src/tasks/task.ts'
import { hostState } from '../tasks/host-state.ts'

const found = (check: string, message = '', more: Partial<Finding> = {}): Finding => ({
  check,
  target: 'host',
  severity: 'warning',
  message,
  ignored: false,
  ...more,
})
const a = (name: string, more: Partial<StepPlan> = {}): StepPlan => ({
  name,
  task: name,
  status: 'planned',
  changes: [],
  findings: [],
  ...more,
})
const planOf = (...steps: StepPlan[]): HostPlan => ({ steps, predicted: hostState({}, []) })

test('a check that is skipped by now ends as it came out', () => {
  const before = a('preflight', { findings: [found('swap-active')] })
  const now = a('preflight', { status: 'skipped', why: 'the unit is there' })
  expect(recall(planOf(now), [before]).steps).toEqual([before])
})

test('what was never looked at stays skipped', () => {
  const skipped = a('preflight', { status: 'skipped', why: 'not for this host' })
  expect(recall(planOf(skipped), [skipped]).steps).toEqual([skipped])
  expect(recall(planOf(skipped), []).steps).toEqual([skipped])
})

test('changes that were made are not made again', () => {
  const change = { change: { kind: 'remove', path: '/x', recurse: false }, expects: [], summary: '' } as const
  const [step] = recall(planOf(a('x', { status: 'skipped' })), [a('x', { changes: [change] })]).steps
  expect(step?.changes).toEqual([])
})

test('of a step that is planned again only lasting findings are kept, unless they are found anew', () => {
  const lasting = found('agent', 'before', { lasting: true })
  const before = a('units', { findings: [lasting, found('passing')] })
  expect(recall(planOf(a('units')), [before]).steps[0]?.findings).toEqual([lasting])
  const anew = a('units', { findings: [found('agent', 'now')] })
  expect(recall(planOf(anew), [before]).steps[0]?.findings).toEqual(anew.findings)
})
