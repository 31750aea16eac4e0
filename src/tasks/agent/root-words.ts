import type { HalfMoved } from './half-moved.ts'
import { type HostRootState, hostRootRow } from './host-root.ts'
import { agentUnit } from './names.ts'
import { movingMark, stagingRoot } from './paths.ts'
import type { Verdict } from './verdict.ts'

/** A state with what the table says of it. */
export const rootWords = (state: HostRootState): string => `${state}: ${hostRootRow(state).means}`

/** Why a move does not end, in the agent's words where it said any. */
export const moveReason = (move: HalfMoved | null): string =>
  move === null || move.reason === null
    ? 'its journal of the last ten minutes does not say why'
    : `it said: ${move.reason}`

/** What to do where the host root is what is wrong. */
export const rootRemedy = (verdict: Verdict, state: HostRootState): string | null => {
  switch (verdict) {
    case 'root-conflict':
      return hostRootRow(state).remedy
    case 'agent-lost':
      return `Look at systemctl cat ${agentUnit} and at both roots. To begin anew: drover run reset, then drover run install.`
    case 'move-stuck':
      return `Put right what it says (journalctl -u ${agentUnit}), then drover run migrate. Never delete ${movingMark} by hand.`
    case 'moving':
      return 'Wait: it ends within three minutes. Then look again.'
    case 'move-cut':
      return `drover run migrate goes on with it, drover run unlink goes back. Never delete ${stagingRoot} by hand.`
    default:
      return null
  }
}
