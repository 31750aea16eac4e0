import type { ErrorDetails } from '../errors.ts'
import type { StepPlan } from './plan.ts'

/** What keeps steps from being as wanted although all that they planned has been done. */
export interface Shortfall {
  readonly step: StepPlan
  readonly error: ErrorDetails
}

/** `settled`: steps that were applied and must want nothing more. */
export const shortfallOf = (steps: readonly StepPlan[], settled: ReadonlySet<string>): Shortfall | null => {
  const refused = steps.find(({ error }) => error !== undefined)
  if (refused?.error !== undefined) return { step: refused, error: refused.error }
  const unmet = steps.find((step) => settled.has(step.name) && step.changes.length > 0)
  return unmet === undefined ? null : { step: unmet, error: notConverged(unmet) }
}

/** A step that waits although nothing is left to do. No plan may end so: were it to happen, it must not pass for a host on which all is well. */
export const stuckIn = (steps: readonly StepPlan[]): Shortfall | null => {
  const step = steps.find(({ status }) => status === 'unknown')
  return step === undefined ? null : { step, error: neverKnown(step) }
}

const neverKnown = (step: StepPlan): ErrorDetails => ({
  code: 'internal',
  message: `Nothing is left to do that could make known what this step waits for: ${step.why ?? ''}.`,
  remedy: 'This is a fault in drover. Run again with -vv and report what it prints.',
})

const notConverged = (step: StepPlan): ErrorDetails => ({
  code: 'not-converged',
  message: `All changes were made, but a second look still finds to do: ${step.changes.map(({ summary }) => summary).join('; ')}.`,
  remedy: 'Something on the host undoes the change or never took it. Look at what it writes and at its journal.',
})
