import type { ErrorDetails } from '../errors.ts'
import type { Failure } from './conclude.ts'
import type { Lane } from './lane.ts'
import { outcomeOf } from './outcome.ts'
import type { HostPlan } from './plan.ts'

/** A host on which a step has failed, and which is put back before the run lets it go. */
export interface Fallen {
  /** What the run says in the end. */
  readonly failure: Failure
  /** The changes that put it back are under way or made. */
  readonly isTried: boolean
}

/** The step of a plan that only puts the host back, and what it has failed with once that is made. */
export const fallsIn = ({ steps }: Pick<HostPlan, 'steps'>): Failure | null => {
  const step = steps.find(({ fails }) => fails !== undefined)
  return step?.fails === undefined ? null : { step, error: step.fails, isMidway: true }
}

/** Whether the step that failed is one that may want its host put back, on a host that can still be reached. */
export const mayBePutBack = ({ run, play }: Lane, { step, error }: Failure): boolean => {
  const task = play.steps.find(({ name }) => name === step?.name)?.task
  const isTaskOfIt = task !== undefined && run.tasks.get(task)?.putsBack === true
  return isTaskOfIt && !run.hardStop.aborted && outcomeOf(error.code) === 'failed'
}

/** Nothing to put back; or the step says why it cannot be, which nobody would learn from what failed before. */
export const noWayBack = ({ failure }: Fallen, { steps }: Pick<HostPlan, 'steps'>): Failure => {
  const { error } = steps.find(({ name }) => name === failure.step?.name) ?? {}
  return error === undefined || error.code === failure.error.code
    ? failure
    : telling(failure, `The host was not put back: ${error.message} ${error.remedy}`)
}

/** Success of putting back, too, is what the next look says. */
export const seenToBeBack = ({ failure }: Fallen, open: Failure | null): Failure =>
  open === null ? failure : telling(failure, 'It was to be put back, and a second look still finds to do for that.')

export const failedToPutBack = ({ failure }: Fallen, { error }: Failure): Failure =>
  telling(failure, `It was to be put back, and that failed, too: ${error.message}`)

const telling = (failure: Failure, more: string): Failure => {
  const error: ErrorDetails = { ...failure.error, message: `${failure.error.message} ${more}` }
  return { ...failure, error, isMidway: true }
}
