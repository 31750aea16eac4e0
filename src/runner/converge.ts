import { type DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { holderOf, leaseTtlS } from '../facts/holder.ts'
import { type LeaseAsk, type Question, questionFor } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import { whenFacts } from '../playbook/when.ts'
import { releaseHost } from './apply-control.ts'
import { applySegment } from './apply-segment.ts'
import { type Applied, type Converged, changeReport, conclude } from './conclude.ts'
import { inspectHost } from './inspect-host.ts'
import type { Lane } from './lane.ts'
import { lookAgain } from './look-again.ts'
import { errorReport } from './outcome.ts'
import { type HostPlan, isOnlyLooking, planHost, type StepPlan, type Tasks } from './plan.ts'
import { isOutOfReach, segmentOf } from './reboot.ts'
import { rebootSegment } from './reboot-host.ts'
import { recogniseAgain, recogniseFirst } from './recognise.ts'
import { emit, type Run } from './run.ts'

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
  noticeOthers(lane, state)
  for (let segment = 0; ; segment += 1) {
    const seenAt = performance.now()
    const plan = planHost(play, run.tasks, state)
    reportPlan(lane, plan, segment)
    const { changes, reboot, settles, waits } = segmentOf(plan)
    const isDone = changes.length === 0 && reboot === null
    const refusal = plan.steps.find(({ error }) => error !== undefined)
    if (refusal?.error !== undefined) return conclude(lane, plan, applied, { step: refusal, error: refusal.error })
    const unmet = plan.steps.find((step) => settled.has(step.name) && step.changes.length > 0)
    if (unmet !== undefined) return conclude(lane, plan, applied, { step: unmet, error: notConverged(unmet) })
    const stuck = !isDone ? undefined : plan.steps.find(({ status }) => status === 'unknown')
    if (stuck !== undefined) return conclude(lane, plan, applied, { step: stuck, error: neverKnown(stuck) })
    if (isDone || run.mode === 'check') return conclude(lane, plan, applied)
    const double = run.machines.refusal(play.host.name)
    if (double !== null) return conclude(lane, plan, applied, { step: firstWithChanges(plan), error: double })
    if (run.softStop.aborted) return conclude(lane, plan, applied, { step: firstWithChanges(plan), error: stopped })
    settled = new Set(settles.map(({ name }) => name))
    const look = { os: state.os, ageMs: performance.now() - seenAt }
    const failure = changes.length === 0 ? null : await applySegment(lane, changes, look, applied)
    if (failure !== null) {
      // An apply that failed has let the host go.
      hold.isHeld = false
      return conclude(lane, plan, applied, await lookAgain(lane, { question, changes, before: state.os, failure }))
    }
    hold.isHeld = true
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

/** A run without changes takes no lease and waits for nobody, but the operator should know of who else is there. */
const noticeOthers = ({ run, play }: Lane, { self }: HostState): void => {
  const notice = (message: string): void => emit(run, { type: 'notice', host: play.host.name, message })
  const other = holderOf(self)
  if (other !== null) notice(`somebody else is at work here: ${other}`)
  if (self.owed.length > 0 && isOnlyLooking(play, run.tasks))
    notice(`a cut run still owes ${self.owed.join(', ')}: the next run that changes anything here does it first`)
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

/** No plan may end so. Were it to happen, it must not pass for a host on which all is well. */
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
