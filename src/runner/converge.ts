import { DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { type Question, questionFor } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import { whenFacts } from '../playbook/when.ts'
import { applyHost, cancelApply, leaseTtlS, releaseHost } from './apply-host.ts'
import type { ChangeReport, Outcome, StepResult } from './events.ts'
import { inspectHost } from './inspect-host.ts'
import type { Lane } from './lane.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import { type HostPlan, type PlannedChange, planHost, type StepPlan, type Tasks } from './plan.ts'
import { emit } from './run.ts'

/** How a lane ended. */
export interface Converged {
  readonly outcome: Outcome
  /** Made, or to be made in a check. */
  readonly changes: number
  readonly error?: DroverError
}

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
    return ended(lane, { steps: [] }, applied, { step: null, error: asDetails(toDroverError(thrown), thrown) })
  } finally {
    if (hold.isHeld) await releaseHost(lane).catch(() => undefined)
  }
}

const convergeHost = async (lane: Lane, hold: { isHeld: boolean }, applied: Applied): Promise<Converged> => {
  const { run, play } = lane
  const question = questionOf(play, run.tasks)
  let settled = new Set<string>()
  let state = await inspectHost(lane, 'inspect', question)
  for (let segment = 0; ; segment += 1) {
    const plan = planHost(play, run.tasks, state)
    reportPlan(lane, plan, segment)
    const changes = plan.steps.flatMap((step) => step.changes.map((change) => ({ ...change, step: step.name })))
    const refusal = plan.steps.find(({ error }) => error !== undefined)
    if (refusal?.error !== undefined) return ended(lane, plan, applied, { step: refusal, error: refusal.error })
    const unmet = plan.steps.find((step) => settled.has(step.name) && step.changes.length > 0)
    if (unmet !== undefined) return ended(lane, plan, applied, { step: unmet, error: notConverged(unmet) })
    const stuck = changes.length > 0 ? undefined : plan.steps.find(({ status }) => status === 'unknown')
    if (stuck !== undefined) return ended(lane, plan, applied, { step: stuck, error: neverKnown(stuck) })
    if (changes.length === 0) return ended(lane, plan, applied)
    if (run.mode === 'check') return ended(lane, plan, applied)
    if (run.softStop.aborted) return ended(lane, plan, applied, { step: firstWithChanges(plan), error: stopped })
    settled = new Set(plan.steps.filter(({ status }) => status === 'planned').map(({ name }) => name))
    const failure = await applySegment(lane, changes, applied)
    if (failure !== null) return ended(lane, plan, applied, failure)
    hold.isHeld = true
    const isOver = new Set(plan.steps.filter(({ status }) => status !== 'unknown').map(({ name }) => name))
    const isLast = play.steps.every(({ name, task }) => isOver.has(name) || run.tasks.get(task)?.isCheck === true)
    try {
      state = await verify(lane, question, isLast)
    } catch (thrown) {
      return ended(lane, plan, applied, { step: lastWithChanges(plan), error: unverified(toDroverError(thrown)) })
    }
    hold.isHeld = !isLast
  }
}

const verify = (lane: Lane, question: Question, isLast: boolean): Promise<HostState> =>
  inspectHost(lane, 'verify', question, {
    action: isLast ? 'free' : 'take',
    run: lane.run.id,
    owner: lane.run.operator,
    ttlS: leaseTtlS,
  })

type SegmentChange = PlannedChange & { readonly step: string }
type Applied = Map<string, PlannedChange[]>
/** `step` is null where it was no step that failed: the host could not be read, or a task could not plan. */
type Failure = { readonly step: Pick<StepPlan, 'name'> | null; readonly error: ErrorDetails }

const applySegment = async (
  lane: Lane,
  changes: readonly SegmentChange[],
  applied: Applied,
): Promise<Failure | null> => {
  const host = lane.play.host.name
  let current = changes[0]
  try {
    await applyHost(lane, changes, ({ type, change: index }) => {
      const change = changes[index]
      if (change === undefined) return
      const { step, summary, diff } = change
      if (type === 'begun') {
        current = change
        emit(lane.run, { type: 'change-started', host, step, summary })
      } else {
        applied.set(step, [...(applied.get(step) ?? []), change])
        emit(lane.run, { type: 'change-done', host, step, summary, ...(diff !== undefined && { diff }) })
      }
    })
    return null
  } catch (thrown) {
    const error = toDroverError(thrown)
    if (error.code === 'cancelled') await cancelApply(lane).catch(() => undefined)
    const step = current?.step ?? ''
    emit(lane.run, { type: 'change-failed', host, step, summary: current?.summary ?? '', error: errorReport(error) })
    return { step: { name: step }, error: asDetails(error, thrown) }
  }
}

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

/** Tells of every step of the play, then of the host: each step has a result, those never reached included. */
const ended = (
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
  for (const name of names) {
    const step = plan.steps.find((planned) => planned.name === name)
    const task = step?.task ?? play.steps.find((other) => other.name === name)?.task ?? 'drover'
    const changes = isCheck ? (step?.changes ?? []) : (applied.get(name) ?? [])
    count += changes.length
    for (const finding of step?.findings ?? []) emit(run, { type: 'finding', host, step: name, finding })
    const isFailed = failedStep === name
    emit(run, {
      type: 'step-ended',
      host,
      step: name,
      task,
      result:
        isFailed && error !== undefined
          ? failedResult(step, error)
          : isReached || changes.length > 0
            ? resultOf(step, changes.length, isCheck)
            : 'skipped',
      ...(step?.status === 'skipped' && step.why !== undefined && { reason: step.why }),
      changes: changes.map(changeReport),
      ...(isFailed && error !== undefined && { error: errorReport(error) }),
    })
    if (isFailed) isReached = false
  }
  if (error !== undefined)
    return {
      outcome: failedOutcome(
        plan.steps.find(({ name }) => name === failedStep),
        error,
      ),
      changes: count,
      error,
    }
  return { outcome: count === 0 ? 'unchanged' : isCheck ? 'would-change' : 'changed', changes: count }
}

const failedResult = (step: StepPlan | undefined, error: DroverError): StepResult =>
  failedOutcome(step, error) === 'blocked' ? 'blocked' : 'failed'

const resultOf = (step: StepPlan | undefined, changes: number, isCheck: boolean): StepResult => {
  if (changes > 0) return isCheck ? 'would-change' : 'changed'
  if (step === undefined || step.status === 'skipped') return 'skipped'
  if (step.status === 'unknown') return 'unknown'
  // A step that wants something and got nothing, since a later one stopped the host, is not ok.
  return step.changes.length > 0 ? 'skipped' : 'ok'
}

/** A step that was refused while planning left its host alone; anything later is a failure. */
const failedOutcome = (step: StepPlan | undefined, error: DroverError): Outcome =>
  step?.status === 'blocked' ? 'blocked' : outcomeOf(error.code)

const changeReport = ({ summary, diff }: PlannedChange): ChangeReport => ({
  summary,
  ...(diff !== undefined && { diff }),
})
