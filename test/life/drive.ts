import { debtOf } from '../../src/changes/compile.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import type { ErrorDetails } from '../../src/errors.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import { questionOf } from '../../src/runner/converge.ts'
import { type HostPlan, type PlannedChange, planHost } from '../../src/runner/plan.ts'
import { segmentOf } from '../../src/runner/reboot.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { fire } from './armed.ts'
import { drift } from './conditions.ts'
import { Refused, said } from './disk.ts'
import type { LivingHost } from './host.ts'
import { make } from './made.ts'
import { observe } from './observe.ts'

export interface Ending {
  /** Null: every step is as wanted. */
  readonly error: ErrorDetails | null
  readonly made: readonly string[]
  readonly isCut: boolean
}

/** A run as the runner conducts it, on a host that answers for itself; cut after so many changes. */
export const drive = (host: LivingHost, play: HostPlay, cutAfter = Number.POSITIVE_INFINITY): Ending => {
  const { facts } = questionOf(play, tasks)
  const made: string[] = []
  const end = (error: ErrorDetails | null, isCut = false): Ending => {
    if (!isCut) host.lock = null
    return { error, made, isCut }
  }
  let failed: ErrorDetails | null = null
  let settled: ReadonlySet<string> = new Set()
  for (let segment = 0; segment < 15; segment += 1) {
    const plan = planHost(play, tasks, observe(host, facts))
    const back = plan.steps.find(({ fails }) => fails !== undefined)?.fails ?? null
    if (failed !== null && back === null) return end(failed)
    const stop = plan.steps.find(({ error }) => error !== undefined)?.error
    const { changes, settles, waits: later } = segmentOf(plan)
    const short = unsettled(plan, settled)
    if (short !== null) return end(short)
    if (changes.length === 0) return end(stop ?? back ?? waits(plan))
    // The runner does nothing at all where a step that it knows of is refused.
    if (stop !== undefined) return end(stop)
    settled = new Set(settles.map(({ name }) => name))
    const outcome = apply(host, changes, made, cutAfter)
    if (outcome === 'cut') return end(null, true)
    if (outcome === 'made') {
      host.armed = null
      if (later.length === 0) asPredicted(host, plan, facts)
      if (back !== null) failed = back
      continue
    }
    const isGuarded = host.armed !== null
    if (isGuarded) fire(host)
    const step = play.steps.find(({ name }) => name === outcome.step)
    if (isGuarded || failed !== null || tasks.get(step?.task ?? '')?.putsBack !== true) return end(outcome.error)
    host.lock = null
    failed = outcome.error
    settled = new Set()
  }
  return end({ code: 'not-converged', message: `no end:\n${made.join('\n')}`, remedy: 'none' })
}

/** What the plan said would lie where it looks lies there, unless it said that nobody can know. */
const asPredicted = ({ disk }: LivingHost, { predicted }: HostPlan, facts: readonly Fact[]): void => {
  const wrong = facts.flatMap((fact) => {
    const node = fact.kind === 'path' ? lookUp(predicted.tree, fact.path) : undefined
    if (fact.kind !== 'path' || node === undefined || node instanceof Unknown) return []
    const seen = said(disk.lstat(fact.path))
    return said(node) === seen ? [] : [`${fact.path}: ${said(node)} was predicted, and it is ${seen}`]
  })
  if (wrong.length > 0) throw new Error(`predicted wrongly:\n${wrong.join('\n')}`)
}

type Applied = 'made' | 'cut' | { readonly error: ErrorDetails; readonly step: string }

const apply = (
  host: LivingHost,
  changes: readonly (PlannedChange & { readonly step: string })[],
  made: string[],
  cutAfter: number,
): Applied => {
  for (const [index, { change, expects, step }] of changes.entries()) {
    if (made.length >= cutAfter) {
      host.owed = owedAfter(changes.slice(0, index), changes.slice(index))
      return 'cut'
    }
    try {
      const drifted = expects.map((expectation) => drift(host, expectation)).find((seen) => seen !== null)
      if (drifted !== undefined) throw new Refused(`drifted: ${drifted}`)
      make(host, change)
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown
      const message = `${summaryOf(change)}: ${thrown.message}`
      const { code, remedy } = change.failure ?? { code: 'change-failed' as const, remedy: 'look' }
      return { step, error: { code, message: change.failure?.message ?? message, remedy, detail: message } }
    }
    made.push(summaryOf(change))
    host.onStep(`drover: ${summaryOf(change)}`)
  }
  host.owed = []
  return 'made'
}

/** The reload that was to come after what was written. */
const owedAfter = (before: readonly PlannedChange[], after: readonly PlannedChange[]): readonly string[] => {
  const debts = after.map(({ change }) => debtOf(change)).filter((debt) => debt !== null)
  const wrote = before.some(({ change }) => !['systemctl', 'await', 'hold', 'arm'].includes(change.kind))
  const paid = before.some(({ change }) => debtOf(change) !== null)
  return wrote && !paid ? [...new Set(debts)] : []
}

const unsettled = (plan: HostPlan, settled: ReadonlySet<string>): ErrorDetails | null => {
  const step = plan.steps.find(({ name, changes }) => settled.has(name) && changes.length > 0)
  if (step === undefined) return null
  return {
    code: 'not-converged',
    message: `${step.name} wants once more: ${step.changes.map(({ summary }) => summary).join(', ')}`,
    remedy: 'none',
  }
}

const waits = ({ steps }: HostPlan): ErrorDetails | null => {
  const step = steps.find(({ status }) => status === 'unknown')
  return step === undefined ? null : { code: 'internal', message: `waits for ever: ${step.why}`, remedy: 'none' }
}
