import { type DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { leaseTtlS } from '../facts/holder.ts'
import { type LeaseAsk, type Question, questionFor } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import { whenFacts } from '../playbook/when.ts'
import { releaseHost } from './apply-control.ts'
import { applySegment } from './apply-segment.ts'
import { type Applied, type Converged, changeReport, conclude } from './conclude.ts'
import { guardOf, isToBeUndone } from './guard.ts'
import { proveGuarded } from './guarded.ts'
import { inspectHost } from './inspect-host.ts'
import type { Lane } from './lane.ts'
import { lookAgain } from './look-again.ts'
import { noticeOthers } from './notice-others.ts'
import { errorReport } from './outcome.ts'
import { type HostPlan, isOnlyLooking, planHost, type StepPlan, type Tasks } from './plan.ts'
import { type Fallen, failedToPutBack, fallsIn, mayBePutBack, noWayBack, seenToBeBack } from './put-back.ts'
import { isOutOfReach, segmentOf } from './reboot.ts'
import { rebootSegment } from './reboot-host.ts'
import { recall } from './recall.ts'
import { recogniseAgain, recogniseFirst } from './recognise.ts'
import { afterFailure, isGone } from './roll-back.ts'
import { emit, type Run } from './run.ts'
import { shortfallOf, stuckIn } from './shortfall.ts'
import { stageUploads } from './stage-uploads.ts'

/** Everything the steps may ask, known before connecting. */
export const questionOf = (play: HostPlay, tasks: Tasks): Question =>
  questionFor(
    play.steps.flatMap((step) => [
      ...(step.when === null ? [] : whenFacts(step.when)),
      ...(tasks.get(step.task)?.facts(step.params, play.host) ?? []),
    ]),
  )

/**
 * Inspect, plan, apply, and look again until nothing is left to do. A segment ends where a step reads what only
 * its changes can make known. A step that was planned and applied and still wants something has not converged:
 * success is what the second look says, never what the first attempt hoped.
 */
export const converge = async (lane: Lane): Promise<Converged> => {
  const hold = { isHeld: false }
  const applied: Applied = new Map()
  try {
    return await convergeHost(lane, hold, applied)
  } catch (thrown) {
    const error = toDroverError(thrown)
    if (error.code === 'internal') lane.run.onFault?.(lane.play.host.name, thrown)
    return conclude(lane, { steps: [] }, applied, { step: null, error: asDetails(error, thrown) })
  } finally {
    if (hold.isHeld) await releaseHost(lane).catch(() => undefined)
  }
}

const convergeHost = async (lane: Lane, hold: { isHeld: boolean }, applied: Applied): Promise<Converged> => {
  const { run, play } = lane
  const question = questionOf(play, run.tasks)
  let settled = new Set<string>()
  const maySweep = run.mode === 'apply' && !isOnlyLooking(play, run.tasks)
  const first = recogniseFirst(
    lane,
    await inspectHost(lane, 'inspect', question, maySweep ? leaseAsk(run, 'sweep') : undefined),
  )
  let state = first
  let earlier: readonly StepPlan[] = []
  let fallen: Fallen | null = null
  noticeOthers(lane, state)
  for (let segment = 0; ; segment += 1) {
    const seenAt = performance.now()
    const plan = recall(
      planHost(play, run.tasks, state, { isFirst: segment === 0, isAfterFailure: fallen !== null }),
      earlier,
    )
    earlier = plan.steps
    reportPlan(lane, plan, segment)
    const back = fallsIn(plan)
    if (back !== null && run.mode === 'check') return conclude(lane, plan, applied, back)
    if (fallen !== null) {
      if (fallen.isTried) return conclude(lane, plan, applied, seenToBeBack(fallen, back))
      if (back === null) return conclude(lane, plan, applied, noWayBack(fallen, plan))
      fallen = { failure: fallen.failure, isTried: true }
    }
    const { changes, reboot, settles, waits } = segmentOf(plan)
    const isDone = changes.length === 0 && reboot === null
    const short = shortfallOf(plan.steps, settled) ?? (isDone ? stuckIn(plan.steps) : null)
    if (short !== null) return conclude(lane, plan, applied, short)
    if (isDone || run.mode === 'check') return conclude(lane, plan, applied)
    const double = run.machines.refusal(play.host.name)
    if (double !== null) return conclude(lane, plan, applied, { step: firstWithChanges(plan), error: double })
    // A host that is being put back is worse off as it is.
    if (run.softStop.aborted && fallen === null)
      return conclude(lane, plan, applied, { step: firstWithChanges(plan), error: stopped })
    const unstaged = await stageUploads(lane, changes)
    if (unstaged !== null) return conclude(lane, plan, applied, unstaged)
    settled = new Set(settles.map(({ name }) => name))
    const look = { os: state.os, ageMs: performance.now() - seenAt }
    const guard = guardOf(changes, play, run.tasks)
    const failure = changes.length === 0 ? null : await applySegment(lane, changes, look, applied, guard)
    if (failure !== null) {
      // Of a host that was lost nobody knows how far it came: the words of its arming may have been lost as well.
      const mayBeArmed = guard !== null && (guard.progress !== 'none' || (isGone(failure) && failure.isMidway === true))
      const mayBeHeld = isToBeUndone(lane, guard)
      const after = mayBeArmed
        ? await afterFailure(lane, guard, failure)
        : await lookAgain(lane, { question, changes, before: state.os, failure })
      if (fallen !== null) return conclude(lane, plan, applied, failedToPutBack(fallen, after))
      if (guard === null && mayBePutBack(lane, after)) {
        const seen = await inspectHost(lane, 'verify', question).catch(() => null)
        if (seen === null) return conclude(lane, plan, applied, after)
        fallen = { failure: after, isTried: false }
        settled = new Set()
        state = recogniseAgain(lane, first, seen)
        continue
      }
      // An apply that failed has let the host go, unless something of it was to be undone.
      hold.isHeld = mayBeHeld && !isGone(after)
      return conclude(lane, plan, applied, after)
    }
    hold.isHeld = true
    if (back !== null && fallen === null) fallen = { failure: back, isTried: true }
    if (guard !== null) {
      // It is held to the very end, which is a command more: nobody else shall come before it is confirmed.
      const again = async (): Promise<HostState> => recogniseAgain(lane, first, await verify(lane, question, false))
      const proven = await proveGuarded(lane, guard, again)
      if ('failure' in proven) {
        hold.isHeld = !isGone(proven.failure)
        return conclude(lane, proven.plan ?? plan, applied, proven.failure)
      }
      state = proven.state
      continue
    }
    const unbooted = reboot === null ? null : await rebootSegment(lane, reboot, state.os, applied)
    if (unbooted !== null) {
      hold.isHeld = !isOutOfReach(unbooted.error)
      return conclude(lane, plan, applied, unbooted)
    }
    const isOver = new Set(
      plan.steps.filter((step) => step.status !== 'unknown' && !waits.includes(step)).map(({ name }) => name),
    )
    const isLast = play.steps.every(({ name, task }) => isOver.has(name) || run.tasks.get(task)?.isCheck === true)
    try {
      const seen = await verify(lane, question, isLast)
      hold.isHeld = !isLast
      state = recogniseAgain(lane, first, seen)
    } catch (thrown) {
      const error = unverified(toDroverError(thrown))
      return conclude(lane, plan, applied, { step: lastWithChanges(plan), error, isMidway: true })
    }
  }
}

const verify = (lane: Lane, question: Question, isLast: boolean): Promise<HostState> =>
  inspectHost(lane, 'verify', question, leaseAsk(lane.run, isLast ? 'free' : 'take'))

const leaseAsk = ({ id, operator }: Run, action: LeaseAsk['action']): LeaseAsk => ({
  action,
  run: id,
  owner: operator,
  ttlS: leaseTtlS,
})

const asDetails = (error: DroverError, cause: unknown): ErrorDetails => ({ ...errorReport(error), cause })

const firstWithChanges = (plan: HostPlan): StepPlan => plan.steps.find(({ changes }) => changes.length > 0) as StepPlan
const lastWithChanges = (plan: HostPlan): StepPlan =>
  plan.steps.findLast(({ changes }) => changes.length > 0) as StepPlan

/** E4: after the first Ctrl-C a segment that runs may end, and none is begun. */
const stopped: ErrorDetails = {
  code: 'cancelled',
  message: 'The run was interrupted before these changes were begun.',
  remedy: 'Run again to finish the work.',
}

const unverified = (error: DroverError): ErrorDetails => ({
  ...errorReport(error),
  message: `The changes were made, but the look afterwards that would prove it failed: ${error.message}`,
  cause: error,
})

const reportPlan = (lane: Lane, plan: HostPlan, segment: number): void => {
  emit(lane.run, {
    type: 'host-planned',
    host: lane.play.host.name,
    segment,
    steps: plan.steps.map((step) => ({
      step: step.name,
      task: step.task,
      changes: step.changes.map(changeReport),
      ...(step.status === 'unknown' && step.why !== undefined && { knownAfter: step.why }),
    })),
  })
}
