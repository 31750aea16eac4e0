import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { lockRefusal } from '../agent/activation-lock.ts'
import { agentUnit } from '../agent/names.ts'
import { LEGACY, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { writtenBelow } from '../switch/restart.ts'
import { blocked, type Planned, putBack } from '../task.ts'
import { afterStartLimit } from '../worker/start-room.ts'
import { copyUnfit } from './copy.ts'
import { asSeen, underLock } from './lock.ts'
import { isWhole, type Movable } from './movable.ts'
import { runsAtLegacy } from './unfit.ts'
import { unitsTo } from './units.ts'

const heldS = 120
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
export const linkedAgain = (view: HostView, movable: Movable): Planned => {
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
  const failed = movable.service.activeState === 'failed'
  const start: Change[] = failed
    ? [
        ...afterStartLimit(view, agentUnit),
        { kind: 'systemctl', verb: 'start', unit: agentUnit, spoils: writtenBelow(LEGACY) },
      ]
    : []
  return putBack([...underLock(heldS, changes, asSeen(view, [movingMark])), ...start], copyUnfit(ROOT))
}

/** What the step that failed had marked as owed is paid with it: nothing of that step is left to be done. */
const owedReload = (view: HostView): Change[] =>
  view.self.owed.includes('daemon-reload') ? [{ kind: 'systemctl', verb: 'daemon-reload' }] : []

const noWayBack: ErrorDetails = {
  code: 'move-stuck',
  message: `The copy of the agent at ${ROOT} does not run, and at ${LEGACY} there is no whole installation that does, so there is no way back.`,
  remedy: `Find out why it does not run: ${ROOT}/lib/aks-flex-node/aks-flex-node-current version, on the host. Remove nothing there.`,
}
