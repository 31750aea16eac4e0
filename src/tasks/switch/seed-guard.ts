import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit } from '../agent/names.ts'
import { agentBinary, LEGACY } from '../agent/paths.ts'
import type { Ready } from './ready.ts'

const seed = agentBinary(LEGACY)

/**
 * Rule U8: a release before the host root would take a binary at the old place for its own and build a second
 * installation beside the one under the new root. So it goes before anything is switched on a host that has moved.
 */
export const seedGuard = (view: HostView, { hostRoot }: Ready): Change[] | ErrorDetails => {
  if (hostRoot !== 'MOVED') return []
  const node = view.node(seed)
  if (node.type === 'file') {
    // #398: the name would go, and with it what a restart needs.
    if (view.unit(agentUnit).exe === view.realPath(seed)) return runsFromSeed
    return [{ kind: 'remove', path: seed, recurse: false }]
  }
  const target = view.target(seed)
  if (target.type !== 'file' || (target.mode & 0o111) === 0) return []
  return {
    code: 'precondition-unmet',
    message: `${seed} still leads to an executable (${view.realPath(seed)}), which an agent from before the host root would take for its own.`,
    remedy: `Remove the link. To have the agent on PATH, link from ${LEGACY}/sbin instead.`,
  }
}

const runsFromSeed: ErrorDetails = {
  code: 'precondition-unmet',
  message: `The agent runs from ${seed}, which would have to be removed (Azure/AKSFlexNode#398).`,
  remedy: `Let it run from its new root first: systemctl restart ${agentUnit}. If it then still runs from there, look at systemctl cat ${agentUnit}.`,
}
