import type { Finding } from '../tasks/task.ts'
import type { HostPlan, StepPlan } from './plan.ts'

/**
 * What was found in an earlier segment and is not looked for again: a check that only fresh hosts are put through is skipped
 * once something is installed, and would otherwise end as if it had never been made.
 */
export const recall = (plan: HostPlan, earlier: readonly StepPlan[]): HostPlan => ({
  ...plan,
  steps: plan.steps.map((step) => {
    const before = earlier.find(({ name }) => name === step.name)
    return before === undefined ? step : recalled(step, before)
  }),
})

const recalled = (step: StepPlan, before: StepPlan): StepPlan => {
  if (step.status === 'skipped' && before.status === 'planned') return { ...before, changes: [] }
  const lasting = before.findings.filter(
    (old) => old.lasting === true && !step.findings.some((now) => isSame(old, now)),
  )
  return lasting.length === 0 ? step : { ...step, findings: [...lasting, ...step.findings] }
}

const isSame = (one: Finding, other: Finding): boolean => one.check === other.check && one.target === other.target
