import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { lockRefusal } from '../agent/activation-lock.ts'
import { LEGACY, layoutEntry, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { restartOf } from '../switch/restart.ts'
import { blocked, type Planned, putBack } from '../task.ts'
import { copyUnfit } from './copy.ts'
import type { Limits } from './limits.ts'
import { asSeen, underLock } from './lock.ts'
import { isWhole, type Movable } from './movable.ts'
import { noOtherChecks } from './restart.ts'
import { runsAtLegacy } from './unfit.ts'
import { unitsTo } from './units.ts'

/** Removing a tree may take ten minutes, and there may be two. */
const heldS = 1500
const removed: Change = { kind: 'remove', path: stagingRoot, recurse: true }

/** A copy that was not swapped in yet and does not run: nothing but itself has to go. */
export const withoutCopy = (view: HostView, path: string): Planned => {
  const refusal = lockRefusal(view)
  if (refusal !== null) return blocked(refusal)
  return putBack(underLock(heldS, [...owedReload(view), removed], asSeen(view, [ROOT])), copyUnfit(path))
}

/**
 * The copy that was swapped in does not run: LINKED again, with every unit on the old root, whose files are all there
 * (domain.md 6.2).
 */
export const linkedAgain = (view: HostView, movable: Movable, limits: Limits): Planned => {
  const refusal = lockRefusal(view) ?? (isWhole(view, LEGACY) && runsAtLegacy(view) ? null : noWayBack)
  if (refusal !== null) return blocked(refusal)
  const units = unitsTo(view, movable, LEGACY)
  if ('code' in units) return blocked(units)
  const changes: Change[] = [
    ...(view.node(stagingRoot).type === 'absent' ? [] : [removed]),
    // While both are whole, so that no unit ever names what is just being swapped.
    ...(units.length > 0 ? units : owedReload(view)),
    { kind: 'rename', from: ROOT, to: stagingRoot },
    { kind: 'link', path: ROOT, target: LEGACY },
    removed,
  ]
  const start = legacyStart(view, movable, limits, units)
  const unfit = copyUnfit(ROOT)
  const fails =
    'code' in start ? { ...unfit, message: `${unfit.message} The agent was not started: ${start.message}` } : unfit
  return putBack([...underLock(heldS, changes, asSeen(view, [movingMark])), ...('code' in start ? [] : start)], fails)
}

/** An agent that failed for the sake of the copy is started as it was, unless that would start others along (W2). */
const legacyStart = (
  view: HostView,
  movable: Movable,
  limits: Limits,
  units: readonly Change[],
): readonly Change[] | ErrorDetails => {
  if (movable.service.activeState !== 'failed') return []
  const atLegacy: Movable = { ...movable, layout: { ...movable.layout, root: LEGACY } }
  const exe = view.realPath(layoutEntry(LEGACY, movable.layout.current))
  const start = restartOf(view, atLegacy, { limits: { ...limits, ...noOtherChecks }, exe, units })
  return 'code' in start ? start : [...start.room, ...start.start, ...start.awaits]
}

/** What the step that failed had marked as owed is paid with it: nothing of that step is left to be done. */
const owedReload = (view: HostView): Change[] =>
  view.self.owed.includes('daemon-reload') ? [{ kind: 'systemctl', verb: 'daemon-reload' }] : []

const noWayBack: ErrorDetails = {
  code: 'move-stuck',
  message: `The copy of the agent at ${ROOT} does not run, and at ${LEGACY} there is no whole installation that does, so there is no way back.`,
  remedy: `Find out why it does not run: ${ROOT}/lib/aks-flex-node/aks-flex-node-current version, on the host. Remove nothing there.`,
}
