import type { ErrorCode, ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { type HostRootState, hostRootRow, isHalfMoved } from '../agent/host-root.ts'
import { agentUnit } from '../agent/names.ts'
import { LEGACY, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'

const codes: Partial<Record<HostRootState, ErrorCode>> = { CONFLICT: 'move-unfinished', UNREADABLE: 'inspect-failed' }

/** Why nothing is switched on a host whose root is in this state (domain.md 6.1, 6.6): the table's own words. */
export const unsettledRoot = (view: HostView, state: HostRootState): ErrorDetails => {
  if (isHalfMoved(state)) return halfMoved(state)
  const code = codes[state] ?? 'layout-unknown'
  const { means, migrate, remedy } = hostRootRow(state)
  if (state === 'OPERATOR-LINK') return operatorLink(view)
  // Of a state without an agent the table says: install. Here the unit is there all the same.
  if (migrate !== 'refuse' || remedy === null)
    return {
      code,
      message: `The agent's unit is there, and below ${ROOT} and ${LEGACY} there is no agent that it could run (${state}).`,
      remedy: `Look at systemctl cat ${agentUnit} and at both directories. If nothing of the agent is left: reset, then install.`,
    }
  return { code, message: `${state}: ${means}`, remedy }
}

const halfMoved = (state: HostRootState): ErrorDetails => ({
  code: 'move-unfinished',
  message: `The agent's move from ${LEGACY} to ${ROOT} is not finished (${state}: ${signOf(state)} is there). ${hostRootRow(state).means}`,
  remedy: `The agent goes on with it at its next start: wait three minutes, else drover run migrate, which goes on from here. Never delete ${movingMark} or ${stagingRoot} by hand.`,
})

const signOf = (state: HostRootState): string => (hostRootRow(state).when.staging ? stagingRoot : movingMark)

// What the table says of it is meant for a move; a switch has another way out.
const operatorLink = (view: HostView): ErrorDetails => {
  const node = view.node(ROOT)
  return {
    code: 'layout-unknown',
    message: `${ROOT} is a link of an operator${node.type === 'symlink' ? ` to ${node.target}` : ''}, and drover knows what lies at ${ROOT} and ${LEGACY} only.`,
    remedy:
      'Upgrade this host by AgentUpgrade from the cluster, or make the root a real directory with a reset and an install.',
  }
}
