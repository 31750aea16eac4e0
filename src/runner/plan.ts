import type { Change, Expectation } from '../changes/change.ts'
import { diffOf, summaryOf } from '../changes/describe.ts'
import { expectationsOf } from '../changes/expect.ts'
import { predict } from '../changes/predict.ts'
import { propagation } from '../changes/predict-units.ts'
import { type Before, undoOf } from '../changes/undo-of.ts'
import type { ErrorDetails } from '../errors.ts'
import type { HostState } from '../facts/state.ts'
import { ReadsUnknown, Unreadable } from '../facts/unknown.ts'
import { viewOf } from '../facts/view.ts'
import type { Host } from '../inventory/host.ts'
import type { HostPlay, HostStep } from '../playbook/playbook.ts'
import { evaluateWhen } from '../playbook/when.ts'
import type { Finding, Planned, Task } from '../tasks/task.ts'
import { abandonedUploads, debtStep, toldStep } from './debts.ts'
import { heldBack } from './held-back.ts'
import { unreadable } from './unreadable.ts'

export type Tasks = ReadonlyMap<string, Task<unknown>>

export interface PlannedChange {
  readonly change: Change
  readonly expects: readonly Expectation[]
  readonly summary: string
  readonly diff?: string
}

/** What one step comes to on one host. */
export interface StepPlan {
  readonly name: string
  readonly task: string
  readonly status: 'planned' | 'skipped' | 'blocked' | 'failed' | 'unknown'
  readonly changes: readonly PlannedChange[]
  readonly findings: readonly Finding[]
  readonly error?: ErrorDetails
  /** Why it is skipped, or what it waits for. */
  readonly why?: string
  /** Its changes put the host back, and then it has failed with this. */
  readonly fails?: ErrorDetails
}

export interface HostPlan {
  readonly steps: readonly StepPlan[]
  /** The host as the planned changes will leave it. */
  readonly predicted: HostState
}

interface PlanOptions {
  /** On what the run found when it came; what has come about since is for the next run to tell of. */
  readonly isFirst?: boolean
  /** A step has failed, and is asked whether its host is to be put back: what a cut run owes can wait for the next run. */
  readonly isAfterFailure?: boolean
}

/**
 * Pure: what is missing on a host, step after step, each seeing the effects of those before it. The fold ends
 * where a step reads what nobody can know yet, is blocked, or fails; steps after that are left out.
 */
export const planHost = (
  play: HostPlay,
  tasks: Tasks,
  state: HostState,
  { isFirst = true, isAfterFailure = false }: PlanOptions = {},
): HostPlan => {
  const steps: StepPlan[] = []
  let predicted = state
  const add = (
    step: Pick<HostStep, 'name' | 'task'>,
    planned: Planned | { skipped: string } | { unknown: string },
  ): boolean => {
    if ('skipped' in planned) steps.push({ ...empty(step), status: 'skipped', why: planned.skipped })
    else if ('unknown' in planned) steps.push({ ...empty(step), status: 'unknown', why: planned.unknown })
    else if (planned.status !== 'planned')
      steps.push({ ...empty(step), status: planned.status, error: planned.error, findings: planned.findings ?? [] })
    else {
      const folded = fold(predicted, planned.changes, play.host)
      if ('changes' in folded) {
        predicted = folded.predicted
        const { findings = [], fails } = planned
        steps.push({
          ...empty(step),
          status: 'planned',
          changes: folded.changes,
          findings,
          ...(fails !== undefined && { fails }),
        })
      } else if ('refused' in folded) steps.push({ ...empty(step), status: 'blocked', error: folded.refused })
      else steps.push({ ...empty(step), status: 'unknown', why: folded.unknown })
    }
    const last = steps.at(-1)
    return last?.fails === undefined && (last?.status === 'planned' || last?.status === 'skipped')
  }
  // A play that only looks changes nothing, not even what a cut run left behind.
  const debts = isOnlyLooking(play, tasks) || isAfterFailure ? null : debtStep(state)
  if (debts !== null) add({ name: 'owed by a run that was cut', task: 'drover' }, debts)
  for (const step of play.steps) if (!add(step, planStep(step, tasks, predicted, play.host))) break
  const abandoned = isOnlyLooking(play, tasks) || !knowsItsEnd(steps) ? null : abandonedUploads(state, changesOf(steps))
  if (abandoned !== null) {
    add({ name: 'left by an upload that was cut', task: 'drover' }, abandoned)
    steps.unshift(...steps.splice(-1))
  }
  const told = isFirst && steps.some(({ changes }) => changes.length > 0) ? toldStep(state) : null
  if (told !== null) {
    add({ name: 'told of an earlier rollback', task: 'drover' }, told)
    steps.unshift(...steps.splice(-1))
  }
  return { steps, predicted }
}

const changesOf = (steps: readonly StepPlan[]): Change[] =>
  steps.flatMap(({ changes }) => changes.map(({ change }) => change))

/** What is still to be planned may want a file that an earlier run has brought here. */
const knowsItsEnd = (steps: readonly StepPlan[]): boolean =>
  steps.every(({ status }) => status === 'planned' || status === 'skipped')

type Folded =
  | { readonly changes: readonly PlannedChange[]; readonly predicted: HostState }
  | { readonly refused: ErrorDetails }
  | { readonly unknown: string }

/** The changes of one step, each planned on what those before it leave. */
const fold = (state: HostState, wanted: readonly Change[], host: Host): Folded => {
  const armedBefore = heldBack(state, wanted, host)
  if (armedBefore !== null) return { refused: armedBefore }
  const changes: PlannedChange[] = []
  const before: Before[] = []
  let predicted = state
  for (const change of wanted) {
    const refused = unaskedPropagation(predicted, change)
    if (refused !== null) return { refused }
    try {
      const diff = diffOf(predicted, change)
      const expects = expectationsOf(predicted, change)
      before.push({ change, state: predicted })
      predicted = predict(predicted, change)
      changes.push({ change, expects, summary: summaryOf(change), ...(diff !== undefined && { diff }) })
    } catch (thrown) {
      // Where the change would come to lie is not known yet, as below a link to where nobody looked.
      if (thrown instanceof ReadsUnknown) return { unknown: thrown.message }
      throw thrown
    }
  }
  return { changes: armed(changes, before), predicted }
}

/** An armed rollback undoes all that comes after it in its step. */
const armed = (changes: readonly PlannedChange[], before: readonly Before[]): readonly PlannedChange[] =>
  changes.map((planned, index) =>
    planned.change.kind === 'arm'
      ? { ...planned, change: { ...planned.change, undo: undoOf(before.slice(index + 1)) } }
      : planned,
  )

/** Every step is a check. */
export const isOnlyLooking = (play: HostPlay, tasks: Tasks): boolean =>
  play.steps.every(({ task }) => tasks.get(task)?.isCheck === true)

const empty = ({ name, task }: Pick<HostStep, 'name' | 'task'>): Omit<StepPlan, 'status'> => ({
  name,
  task,
  changes: [],
  findings: [],
})

const planStep = (
  step: HostStep,
  tasks: Tasks,
  state: HostState,
  host: Host,
): Planned | { skipped: string } | { unknown: string } => {
  const task = tasks.get(step.task)
  if (task === undefined) throw new Error(`no task ${step.task}`)
  const view = viewOf(state)
  try {
    const applies = step.when === null ? true : evaluateWhen(step.when, host, view)
    return applies === true ? task.plan(view, step.params, host) : applies
  } catch (thrown) {
    if (thrown instanceof ReadsUnknown) return { unknown: thrown.message }
    if (thrown instanceof Unreadable) return { status: 'blocked', error: unreadable(thrown) }
    throw thrown
  }
}

/** A stop or restart may only reach units whose state is known, or nobody could say what it will do. */
const unaskedPropagation = (state: HostState, change: Change): ErrorDetails | null => {
  if (change.kind !== 'systemctl' || (change.verb !== 'stop' && change.verb !== 'restart')) return null
  const unasked = [change.unit, ...propagation(state.units, change)].filter((name) => !state.units.has(name))
  if (unasked.length === 0) return null
  return {
    code: 'propagation-unknown',
    message: `systemctl ${change.verb} ${change.unit} would also reach ${unasked.join(', ')}, which no step looked at.`,
    remedy: `Look at those units. If they may ${change.verb} too, do it by hand; or remove their dependency on ${change.unit}.`,
  }
}
