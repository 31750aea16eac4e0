import type { Change } from '../changes/change.ts'
import { compile } from '../changes/compile.ts'
import { armedOf } from '../facts/armed.ts'
import type { HostState } from '../facts/state.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Tasks } from './plan.ts'
import type { SegmentChange } from './reboot.ts'
import type { Run } from './run.ts'

type Arm = Extract<Change, { kind: 'arm' }>

/** The part of a segment that the host undoes by itself unless this run confirms it. */
export interface Guard {
  readonly step: string
  readonly arm: Arm
  /** Steps that have to be as wanted before it is confirmed. */
  readonly covers: ReadonlySet<string>
  /** Units that it starts. */
  readonly starts: readonly string[]
  /** Seconds that a rollback is waited for. */
  readonly withinS: number
  /** How far the host has told of it: an arming that was begun may have been done all the same. */
  progress: 'none' | 'arming' | 'armed'
  /** When the host fires it by itself; ISO 8601, by this machine's clock. */
  firesAt: string | null
}

/** Where `reset-failed` is denied an agent is started again only when this window of its start limit has passed (U7). */
const startLimitWindowS = 300

/** Null where the segment arms nothing. It covers the steps up to its own, and the checks that directly follow. */
export const guardOf = (changes: readonly SegmentChange[], play: HostPlay, tasks: Tasks): Guard | null => {
  const at = changes.findIndex(({ change }) => change.kind === 'arm')
  const guarded = changes[at]
  if (guarded?.change.kind !== 'arm') return null
  const own = play.steps.findIndex(({ name }) => name === guarded.step)
  const after = play.steps.slice(own + 1)
  const other = after.findIndex(({ task }) => tasks.get(task)?.isCheck !== true)
  const checks = other < 0 ? after : after.slice(0, other)
  const steps = [...changes, ...play.steps.slice(0, own + 1), ...checks]
  return {
    step: guarded.step,
    arm: guarded.change,
    covers: new Set(steps.map((step) => ('step' in step ? step.step : step.name))),
    starts: startedBy(changes.slice(at)),
    withinS: compile(changes.slice(at)).deadlineS + startLimitWindowS,
    progress: 'none',
    firesAt: null,
  }
}

const startedBy = (guarded: readonly SegmentChange[]): string[] => [
  ...new Set(
    guarded.flatMap(({ change }) =>
      change.kind === 'systemctl' && (change.verb === 'start' || change.verb === 'restart') ? [change.unit] : [],
    ),
  ),
]

/** A rollback that this very run armed is the guard's business: the steps plan as if nothing were armed. */
export const withoutOwnRollback = (state: HostState, run: string): HostState =>
  armedOf(state.self)?.run === run ? { ...state, self: { ...state.self, rollback: null } } : state

/** Its clock runs from a moment after this at the latest, so what is told is no time too late. */
export const armingBegun = (guard: Guard): void => {
  guard.progress = 'arming'
  guard.firesAt = new Date(Date.now() + guard.arm.withinMs).toISOString()
}

export const armingDone = (guard: Guard): { what: string; firesAt: string } => {
  guard.progress = 'armed'
  guard.firesAt ??= new Date(Date.now() + guard.arm.withinMs).toISOString()
  return { what: guard.arm.what, firesAt: guard.firesAt }
}

/** A failure of the segment is followed by its rollback, and the host is held until that is over. */
export const isToBeUndone = ({ run }: { run: Pick<Run, 'hardStop'> }, guard: Guard | null): guard is Guard =>
  guard !== null && guard.progress !== 'none' && !run.hardStop.aborted
