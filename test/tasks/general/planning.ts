import { summaryOf } from '../../../src/changes/describe.ts'
import { predict } from '../../../src/changes/predict.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { ReadsUnknown } from '../../../src/facts/unknown.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { parseParams } from '../../../src/playbook/params.ts'
import type { Value } from '../../../src/playbook/value.ts'
import type { Planned, Task } from '../../../src/tasks/task.ts'
import { aHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

/** What a plan comes to, short enough for a table. */
export type Result = readonly string[] | { readonly blocked: string } | { readonly unknown: true }

/** Parameters as a playbook would hand them over. Throws the faults that a user would see. */
export const paramsOf = <P>(task: Task<P>, input: Value): P => {
  const { value, faults } = parseParams(task.params, input)
  if (faults.length > 0)
    throw new Error(faults.map((fault) => ('key' in fault ? `unknown key ${fault.key}` : fault.message)).join('\n'))
  return value as P
}

export const faultsOf = (task: Task<never>, input: Value): string[] =>
  parseParams(task.params, input).faults.map((fault) => ('key' in fault ? `unknown key ${fault.key}` : fault.message))

export const stateFor = <P>(task: Task<P>, params: P, literal: HostLiteral): HostState =>
  hostState(literal, task.facts(params, aHost()))

export const planOn = <P>(task: Task<P>, params: P, state: HostState): Planned | { readonly status: 'unknown' } => {
  try {
    return task.plan(viewOf(state), params, aHost())
  } catch (thrown) {
    if (thrown instanceof ReadsUnknown) return { status: 'unknown' }
    throw thrown
  }
}

export const resultOf = (planned: ReturnType<typeof planOn>): Result => {
  if (planned.status === 'planned') return planned.changes.map(summaryOf)
  return planned.status === 'unknown' ? { unknown: true } : { blocked: planned.error.code }
}

export const result = <P>(task: Task<P>, input: Value, literal: HostLiteral): Result => {
  const params = paramsOf(task, input)
  return resultOf(planOn(task, params, stateFor(task, params, literal)))
}

/** What a blocked plan says. */
export const refusal = <P>(task: Task<P>, input: Value, literal: HostLiteral): string => {
  const params = paramsOf(task, input)
  const planned = planOn(task, params, stateFor(task, params, literal))
  return 'error' in planned ? `${planned.error.message} ${planned.error.remedy}` : ''
}

/** The host as the plan on it would leave it. */
export const predicted = (state: HostState, planned: ReturnType<typeof planOn>): HostState =>
  planned.status === 'planned' ? planned.changes.reduce(predict, state) : state
