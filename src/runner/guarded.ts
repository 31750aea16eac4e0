import { type ErrorDetails, toDroverError } from '../errors.ts'
import { armedOf, rolledBackOf } from '../facts/armed.ts'
import type { HostState } from '../facts/state.ts'
import type { Failure } from './conclude.ts'
import { type Guard, withoutOwnRollback } from './guard.ts'
import type { Lane } from './lane.ts'
import { type HostPlan, planHost } from './plan.ts'
import { afterFailure, asDetails, leftArmed, rollBack, rollbackOf } from './roll-back.ts'
import { confirmError } from './rollback-errors.ts'
import { confirmRollback, type RollbackAnswer } from './rollback-script.ts'
import { emit } from './run.ts'
import { shortfallOf, stuckIn } from './shortfall.ts'

/** `plan` where it came to one: what the look over the new connection found. */
type Proven = { readonly state: HostState } | { readonly failure: Failure; readonly plan?: HostPlan }

/**
 * After the changes of a guarded segment: what was switched has proven itself when the host lets us in once more and a
 * look over that new connection finds nothing amiss. Then the rollback is disarmed; otherwise it is fired at once.
 */
export const proveGuarded = async (lane: Lane, guard: Guard, look: () => Promise<HostState>): Promise<Proven> => {
  const bad = (error: ErrorDetails): Failure => ({ step: { name: guard.step }, error, isMidway: true })
  let seen: HostState
  try {
    await lane.renew()
  } catch (thrown) {
    // The connection from before still stands, and may be the last way to the host.
    const error = asDetails(
      toDroverError(thrown),
      'The changes were made, but a new connection, to prove them, failed: ',
    )
    return { failure: await afterFailure(lane, guard, bad(error), { isReached: true }) }
  }
  try {
    seen = await look()
  } catch (thrown) {
    const error = asDetails(toDroverError(thrown), 'The changes were made, but the look that would prove it failed: ')
    return { failure: await afterFailure(lane, guard, bad(error)) }
  }
  if (isUndone(seen, lane.run.id)) return { failure: await rollBack(lane, guard, bad(notInTime)) }
  const state = withoutOwnRollback(seen, lane.run.id)
  const { plan, failure } = judge(lane, guard, state)
  const after = failure === null ? await confirm(lane, guard) : await afterFailure(lane, guard, failure)
  return after === null ? { state } : { failure: after, ...(plan !== undefined && { plan }) }
}

/**
 * Whether what was started runs, and the steps that are covered are as wanted: all of them, also one that wanted nothing
 * before. To a step an agent that has ended since may look like one that somebody stopped (U5).
 */
const judge = (
  { play, run }: Lane,
  { step, covers, starts }: Guard,
  state: HostState,
): { plan?: HostPlan; failure: Failure | null } => {
  try {
    const plan = planHost(play, run.tasks, state, { isFirst: false })
    const covered = plan.steps.filter(({ name }) => covers.has(name))
    const down = downOf(starts, state)
    const short =
      down === null ? (shortfallOf(covered, covers) ?? stuckIn(covered)) : { step: { name: step }, error: down }
    return { plan, failure: short === null ? null : { ...short, isMidway: true } }
  } catch (thrown) {
    // A fault of ours proves nothing good of the host either.
    run.onFault?.(play.host.name, thrown)
    return { failure: { step: { name: step }, error: asDetails(toDroverError(thrown)), isMidway: true } }
  }
}

const downOf = (starts: readonly string[], { units }: HostState): ErrorDetails | null => {
  for (const unit of starts) {
    const active = units.get(unit)?.properties.ActiveState
    if (active !== 'active') return down(unit, typeof active === 'string' ? active : 'not to be seen')
  }
  return null
}

const down = (unit: string, active: string): ErrorDetails => ({
  code: 'agent-unhealthy',
  message: `${unit} was started and seen to be up, and in the look that would prove it, over a new connection, it is ${active}.`,
  remedy: `Its last journal lines say why. On the host: journalctl -u ${unit}.`,
})

/** Null: what was switched stays. */
const confirm = async (lane: Lane, guard: Guard): Promise<Failure | null> => {
  const bad = (error: ErrorDetails): Failure => ({ step: { name: guard.step }, error, isMidway: true })
  let answer: RollbackAnswer
  try {
    answer = await confirmRollback(lane)
  } catch (thrown) {
    const error = asDetails(toDroverError(thrown), 'All is as wanted, but whether the host heard so is not known: ')
    return leftArmed(lane, guard, bad(error))
  }
  // Its timer was faster: the same command that fires it waits for its end, and says how it ended.
  if (answer.code === 7) return rollBack(lane, guard, bad(notInTime))
  const error = confirmError(answer, rollbackOf(lane, guard))
  if (error !== null) return bad(error)
  emit(lane.run, { type: 'rollback-disarmed', host: lane.play.host.name, what: guard.arm.what })
  return null
}

/** The host's own timer has fired it, or a boot has: it is under way, or there is the line that it leaves. */
const isUndone = ({ self }: HostState, run: string): boolean =>
  armedOf(self)?.phase === 'undoing' || rolledBackOf(self)?.run === run

const notInTime: ErrorDetails = {
  code: 'rolled-back',
  message: 'It was not confirmed in time: the host had begun to undo it by itself.',
  remedy: 'See what took so long, or give it more time, and run again.',
}
