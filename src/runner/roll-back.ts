import { type DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { readRolledBack } from '../facts/armed.ts'
import type { Failure } from './conclude.ts'
import type { Guard } from './guard.ts'
import type { Lane } from './lane.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import { fireError, type Rollback } from './rollback-errors.ts'
import { fireRollback, type RollbackAnswer } from './rollback-script.ts'

/** A guarded segment did not come to its end, or to nothing good: the host is to undo it, now if it can be told. */
export const afterFailure = async (
  lane: Lane,
  guard: Guard,
  cause: Failure,
  { isReached = false } = {},
): Promise<Failure> => {
  const isCutOff = !isReached && (isGone(cause) || cause.error.code === 'wrong-machine')
  return isCutOff || lane.run.hardStop.aborted ? leftArmed(lane, guard, cause) : rollBack(lane, guard, cause)
}

/** There is no way to the host any more. */
export const isGone = ({ error }: Failure): boolean => outcomeOf(error.code) === 'unreachable'

/** Has the host undo it now, and says what came of that. */
export const rollBack = async (lane: Lane, guard: Guard, cause: Failure): Promise<Failure> => {
  let answer: RollbackAnswer
  try {
    answer = await fireRollback(lane, guard.withinS)
  } catch (thrown) {
    const why = asDetails(toDroverError(thrown), `${cause.error.message} It could not be rolled back from here: `)
    return leftArmed(lane, guard, { ...cause, error: { ...why, ...detailOf(cause.error.detail) } })
  }
  // It failed before anything had been armed.
  if (answer.code === 3 && guard.progress !== 'armed') return cause
  const error = fireError(answer, rollbackOf(lane, guard)) ?? back(guard, answer.line, cause.error.remedy)
  const words = answer.words === '' ? '' : `What the host says of the rollback:\n${answer.words}`
  return {
    ...cause,
    isMidway: true,
    error: {
      ...error,
      message: `${cause.error.message} ${error.message}`,
      cause: cause.error.cause,
      ...detailOf([cause.error.detail ?? '', words].filter((text) => text !== '').join('\n')),
    },
  }
}

const back = ({ arm }: Guard, line: string, remedy: string): ErrorDetails => {
  const links = (arm.undo ?? []).flatMap((undo) =>
    undo.kind === 'link' && undo.was !== null ? [`${undo.path} -> ${undo.was}`] : [],
  )
  const { at } = readRolledBack(line)
  return {
    code: 'rolled-back',
    message: `The ${arm.what} was undone${at === '' ? '' : ` at ${at}`}, and the host is back on what it ran before${links.length === 0 ? '' : ` (${links.join(', ')})`}.`,
    remedy: `The host itself needs nothing. As to the cause: ${remedy}`,
  }
}

/** Nobody could tell the host, and it goes by its own clock. How it will be is not claimed. */
export const leftArmed = (lane: Lane, { arm, progress, firesAt }: Guard, cause: Failure): Failure => {
  const { name } = lane.play.host
  const subject = progress === 'armed' ? 'The host' : 'If it had come to arming the rollback, the host'
  return {
    ...cause,
    isMidway: true,
    error: {
      ...cause.error,
      message: `${cause.error.message} ${subject} undoes the ${arm.what} by itself ${firesAt === null ? `${arm.withinMs / 1000} s after that` : `at ${firesAt}`}, or at a boot before that, unless it is confirmed.`,
      remedy: `When the host can be reached, drover confirm -l ${name} keeps what was switched, and drover rollback --now -l ${name} undoes it at once. Or wait, then run again.`,
    },
  }
}

export const rollbackOf = ({ play }: Lane, { arm }: Guard): Rollback => ({
  host: play.host.name,
  of: `the ${arm.what}`,
})

export const asDetails = (error: DroverError, before = ''): ErrorDetails => ({
  ...errorReport(error),
  message: `${before}${error.message}`,
  cause: error,
})

const detailOf = (detail: string | undefined): { detail?: string } =>
  detail === undefined || detail === '' ? {} : { detail }
