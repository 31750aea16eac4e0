import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { HostRootState } from '../agent/host-root.ts'
import { agentUnit } from '../agent/names.ts'
import { hostRoots, LEGACY, layoutEntry, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'

/** Why nothing is switched on a host whose root is in this state (domain.md 6.1, 6.6). */
export const unsettledRoot = (view: HostView, state: HostRootState): ErrorDetails => {
  switch (state) {
    case 'STAGING':
    case 'SWAP-GAP':
      return moving(state, `${stagingRoot} is there`)
    case 'MOVING-1':
    case 'MOVING-2':
      return moving(state, `${movingMark} is there`)
    case 'CONFLICT':
      return {
        code: 'move-unfinished',
        message: `Both ${ROOT} and ${LEGACY} hold an installation (CONFLICT), and the agent refuses to start on such a host.`,
        remedy: `Find out which one the node runs (${hostRoots.map((root) => layoutEntry(root, 'current')).join(', ')}), then reset the host and install again. Remove nothing while the agent runs.`,
      }
    case 'OPERATOR-LINK': {
      const node = view.node(ROOT)
      return {
        code: 'layout-unknown',
        message: `${ROOT} is a link of an operator${node.type === 'symlink' ? ` to ${node.target}` : ''}, and drover knows what lies at ${ROOT} and ${LEGACY} only.`,
        remedy:
          'Upgrade this host by AgentUpgrade from the cluster, or make the root a real directory with a reset and an install.',
      }
    }
    case 'UNREADABLE':
      return {
        code: 'inspect-failed',
        message: `${ROOT} or what lies below ${LEGACY} cannot be read on the host.`,
        remedy: 'Log in as root, or get root rights through sudo: -b, or `become: true` in the inventory.',
      }
    default:
      return {
        code: 'layout-unknown',
        message: `The agent's unit is there, and below ${ROOT} and ${LEGACY} there is no agent that it could run (${state}).`,
        remedy: `Look at systemctl cat ${agentUnit} and at both directories. If nothing of the agent is left: reset, then install.`,
      }
  }
}

const moving = (state: HostRootState, sign: string): ErrorDetails => ({
  code: 'move-unfinished',
  message: `The agent's move from ${LEGACY} to ${ROOT} is not finished (${state}: ${sign}).`,
  remedy: `Its next start goes on with it: wait three minutes, else systemctl restart ${agentUnit} once and look at its journal. Never delete ${movingMark} or ${stagingRoot} by hand.`,
})
