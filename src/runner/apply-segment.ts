import { type DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { applyHost, type Look } from './apply-host.ts'
import type { ApplyProgress } from './apply-progress.ts'
import type { Applied, Failure } from './conclude.ts'
import { armingBegun, armingDone, type Guard, isToBeUndone } from './guard.ts'
import type { Lane } from './lane.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import type { SegmentChange } from './reboot.ts'
import { emit } from './run.ts'

/** Makes the changes of a segment and tells of each. What they do not come to is a failure of the step that was at work. */
export const applySegment = async (
  lane: Lane,
  changes: readonly SegmentChange[],
  look: Look,
  applied: Applied,
  guard: Guard | null = null,
): Promise<Failure | null> => {
  const host = lane.play.host.name
  let current = changes[0]
  let isBegun = false
  const tell = (progress: ApplyProgress): void => {
    if (progress.type === 'grouped') {
      const message = `the changes ran in a process group and not under systemd, since ${progress.why.trim()}`
      emit(lane.run, { type: 'notice', host, message })
      return
    }
    const change = changes[progress.change]
    if (change === undefined) return
    const { step, summary, diff } = change
    if (progress.type === 'begun') {
      current = change
      isBegun = true
      const { change: what } = change
      const waitMs = what.kind === 'await' ? what.withinMs : undefined
      if (what.kind === 'arm' && guard !== null) armingBegun(guard)
      lane.watch.at(`step '${step}': ${summary}`, what.kind === 'run' ? what.timeoutMs : waitMs)
      emit(lane.run, { type: 'change-started', host, step, summary, ...(waitMs !== undefined && { waitMs }) })
    } else {
      applied.set(step, [...(applied.get(step) ?? []), change])
      emit(lane.run, { type: 'change-done', host, step, summary, ...(diff !== undefined && { diff }) })
      if (change.change.kind === 'arm' && guard !== null) {
        const { what, firesAt } = armingDone(guard)
        emit(lane.run, { type: 'rollback-armed', host, what, firesAt })
      }
    }
  }
  try {
    await applyHost(lane, limited(lane, changes), look, tell, () => !isToBeUndone(lane, guard))
    return null
  } catch (thrown) {
    const error = toDroverError(thrown)
    const step = current?.step ?? ''
    emit(lane.run, { type: 'change-failed', host, step, summary: current?.summary ?? '', error: errorReport(error) })
    // A host that was lost may have begun all the same.
    const isMidway = isBegun || (outcomeOf(error.code) === 'unreachable' && error.code !== 'channel-failed')
    return { step: { name: step }, error: detailsOf(error, thrown), ...(isMidway && { isMidway }) }
  }
}

/** The most that the changes of its step may take: the step's own limit or the run's, whichever is shorter. */
const limited = (
  { run, play }: Lane,
  changes: readonly SegmentChange[],
): (SegmentChange & { readonly withinS?: number })[] => {
  const limits = new Map(play.steps.map(({ name }) => [name, stepLimitS({ run, play }, name)]))
  return changes.map((change) => {
    const withinS = limits.get(change.step) ?? run.stepTimeoutS
    return withinS === undefined ? change : { ...change, withinS }
  })
}

/** The step's own limit or the run's, whichever is shorter. */
export const stepLimitS = ({ run, play }: Pick<Lane, 'run' | 'play'>, name: string): number | undefined => {
  const own = play.steps.find((step) => step.name === name)?.timeoutS
  const limits = [own, run.stepTimeoutS].filter((limit) => limit !== undefined)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

const detailsOf = (error: DroverError, cause: unknown): ErrorDetails => ({ ...errorReport(error), cause })
