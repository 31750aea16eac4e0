import { DroverError, type ErrorDetails } from '../errors.ts'
import type { ChangeReport, Outcome, StepResult } from './events.ts'
import type { Lane } from './lane.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import type { HostPlan, PlannedChange, StepPlan } from './plan.ts'
import { emit } from './run.ts'

/** How a lane ended. */
export interface Converged {
  readonly outcome: Outcome
  /** Made, or to be made in a check. */
  readonly changes: number
  readonly error?: DroverError
}

/** Changes that the host has reported as made, by step. */
export type Applied = Map<string, PlannedChange[]>

/** `step` is null where it was no step that failed: the host could not be read, or a task could not plan. */
export interface Failure {
  readonly step: Pick<StepPlan, 'name'> | null
  readonly error: ErrorDetails
  /** Changes were on their way when it happened: what became of them nobody knows. */
  readonly isMidway?: true
}

/** Tells of every step of the play, then of the host: each step has a result, those never reached included. */
export const conclude = (
  lane: Lane,
  plan: Pick<HostPlan, 'steps'>,
  applied: ReadonlyMap<string, readonly PlannedChange[]>,
  failure?: Failure,
): Converged => {
  const { run, play } = lane
  const host = play.host.name
  const isCheck = run.mode === 'check'
  const failedStep = failure?.step?.name
  const error =
    failure === undefined
      ? undefined
      : new DroverError(failure.error).at({ host, ...(failedStep !== undefined && { step: failedStep }) })
  let count = 0
  let isReached = failure?.step !== null
  // What a cut run owed is paid in the first segment and stands in no later plan.
  const paid = [...applied.keys()].filter((name) => play.steps.every((step) => step.name !== name))
  const names = [...new Set([...paid, ...plan.steps.map(({ name }) => name), ...play.steps.map(({ name }) => name)])]
  const waiting = plan.steps.find(({ status }) => status === 'unknown')
  for (const name of names) {
    const step = plan.steps.find((planned) => planned.name === name)
    const task = step?.task ?? play.steps.find((other) => other.name === name)?.task ?? 'drover'
    // A host that is refused is left alone as a whole, so nothing would change there.
    const wanted = failure === undefined ? (step?.changes ?? []) : []
    const changes = isCheck ? wanted : (applied.get(name) ?? [])
    count += changes.length
    for (const { lasting: _, ...finding } of step?.findings ?? [])
      emit(run, { type: 'finding', host, step: name, finding })
    const isFailed = failedStep === name
    emit(run, {
      type: 'step-ended',
      host,
      step: name,
      task,
      result:
        isFailed && error !== undefined
          ? failedResult(step, error, failure)
          : isReached || changes.length > 0
            ? resultOf(step, changes.length, isCheck)
            : 'skipped',
      ...(step?.status === 'skipped' && step.why !== undefined && { reason: step.why }),
      ...(step === undefined &&
        failure === undefined &&
        waiting !== undefined && { reason: `it is planned once '${waiting.name}' is known` }),
      changes: changes.map(changeReport),
      ...(isFailed && error !== undefined && { error: errorReport(error) }),
    })
    if (isFailed) isReached = false
  }
  if (error !== undefined)
    return {
      outcome: endOf(
        failedOutcome(
          plan.steps.find(({ name }) => name === failedStep),
          error,
          failure,
        ),
        failure,
      ),
      changes: count,
      error,
    }
  return { outcome: count === 0 ? 'unchanged' : isCheck ? 'would-change' : 'changed', changes: count }
}

const failedResult = (step: StepPlan | undefined, error: DroverError, failure: Failure | undefined): StepResult =>
  failedOutcome(step, error, failure) === 'blocked' ? 'blocked' : 'failed'

const resultOf = (step: StepPlan | undefined, changes: number, isCheck: boolean): StepResult => {
  if (changes > 0) return isCheck ? 'would-change' : 'changed'
  if (step === undefined || step.status === 'skipped') return 'skipped'
  if (step.status === 'unknown') return 'unknown'
  // A step that wants something and got nothing, since a later one stopped the host, is not ok.
  return step.changes.length > 0 ? 'skipped' : 'ok'
}

/** A step that was refused while planning left its host alone; anything later is a failure. */
const failedOutcome = (step: StepPlan | undefined, error: DroverError, failure: Failure | undefined): Outcome =>
  step?.status === 'blocked' && failure?.isMidway !== true ? 'blocked' : outcomeOf(error.code)

/** A host that was lost while it was being changed is no mere `unreachable`: something worse may have happened there. */
const endOf = (outcome: Outcome, failure: Failure | undefined): Outcome =>
  outcome === 'unreachable' && failure?.isMidway === true ? 'failed' : outcome

export const changeReport = ({ summary, diff }: PlannedChange): ChangeReport => ({
  summary,
  ...(diff !== undefined && { diff }),
})
