import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { type HostRootState, isHalfMoved } from './host-root.ts'
import { agentUnit } from './names.ts'
import { movingMark, stagingRoot } from './paths.ts'
import { isRoot } from './visible.ts'

/** A move ends within two starts of the agent; after three minutes it is stuck (domain.md 6.5). */
const stuckAfterS = 180

/** A move that was begun on this host and is not over. */
export interface HalfMoved {
  /** `cut`: nobody goes on with it, and the agent runs from where it was all the while. */
  readonly how: 'going' | 'stuck' | 'cut'
  /** Of the mark that the move leaves; null where there is none yet. */
  readonly ageS: number | null
  /** How often systemd has started the agent again by itself, as it does about every 150 s while a move is stuck. */
  readonly restarts: number
  /** The agent's own words on why it does not go on. */
  readonly reason: string | null
}

const journal = [agentUnit, movingMark, stagingRoot]

export const halfMovedFacts = (): Fact[] => [
  { kind: 'path', path: movingMark },
  { kind: 'unit', name: agentUnit },
  { kind: 'probe', name: 'move-journal', args: journal, timeoutS: 15 },
]

/**
 * Null where no move is under way, or nobody can say. What a planned restart makes unknown is read only by who wants it.
 */
export const readHalfMoved = (view: HostView, state: HostRootState): HalfMoved | null => {
  if (!isHalfMoved(state)) return null
  const mark = view.node(movingMark)
  const passed = mark.type === 'file' && mark.modifiedS !== undefined ? view.os.clockS - mark.modifiedS : null
  // A clock that was set back: how long ago that was nobody knows, and nobody shall wait for it for ever.
  const isFromFuture = passed !== null && passed < -2
  const ageS = passed === null || isFromFuture ? null : Math.max(0, passed)
  return {
    how: !state.startsWith('MOVING') ? 'cut' : isFromFuture || (ageS ?? 0) > stuckAfterS ? 'stuck' : 'going',
    ageS,
    get restarts() {
      return view.systemd.ok ? Number(view.unit(agentUnit).get('NRestarts')) || 0 : 0
    },
    get reason() {
      return isRoot(view) ? view.probe('move-journal', journal).stdout.trim() || null : null
    },
  }
}
