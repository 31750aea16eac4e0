import type { Change } from '../../changes/change.ts'
import { probeKey } from '../../facts/fact.ts'
import type { Node } from '../../facts/node.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, recoveryUnit } from '../agent/names.ts'
import { activationLock, agentBinary, configDirectory, LEGACY, libraryDirectory, ROOT } from '../agent/paths.ts'
import { wantsLinks } from './belongings.ts'
import { removalsOf } from './removal.ts'

export const isUp = (view: HostView, unit: string): boolean =>
  !['inactive', 'failed'].includes(view.unit(unit).get('ActiveState'))

export const stopOf = (view: HostView, unit: string): Change[] =>
  isUp(view, unit) ? [{ kind: 'systemctl', verb: 'stop', unit }] : []

/** No boot and no target starts it. One that systemd does not know any more may still have its links. */
export const disableOf = (view: HostView, unit: string): Change[] => {
  const links = wantsLinks(unit).filter((path) => !isMask(view.node(path)))
  if (!view.unit(unit).isLoaded) return removalsOf(view, links)
  const isEnabled =
    ['enabled', 'linked'].includes(view.unit(unit).get('UnitFileState')) ||
    links.some((path) => view.node(path).type !== 'absent')
  return isEnabled ? [{ kind: 'systemctl', verb: 'disable', unit }] : []
}

/** An operator's word that a unit must not start: nothing of the agent's, and kept. */
export const isMask = (node: Node): boolean => node.type === 'symlink' && node.target === '/dev/null'

/** Restarts of itself that an agent has queued for a move or an upgrade. */
const queued = 'aks-flex-node-agent-upgrade-restart-*.timer'

/**
 * O-4: what the agent may have been writing until it was stopped is unknown from here, so that all that follows is planned
 * on a look at the stopped host.
 */
export const agentStops = (view: HostView): Change[] => {
  const stops: Change[] = isUp(view, agentUnit)
    ? [{ kind: 'systemctl', verb: 'stop', unit: agentUnit, spoils: writtenUntilStopped }]
    : []
  const disables = disableOf(view, agentUnit)
  // An agent that is down for a moment comes back by them. One that is down and disabled was stopped here before.
  const isLeft = stops.length > 0 || disables.length > 0
  return [
    // Its last act is to restart the agent.
    ...stopOf(view, recoveryUnit),
    ...(isLeft
      ? [{ kind: 'run', argv: ['systemctl', 'stop', queued], timeoutMs: 60_000, spoils: [] } satisfies Change]
      : []),
    ...stops,
    ...disables,
  ]
}

const writtenUntilStopped: readonly string[] = [
  ...[ROOT, parentOf(ROOT), libraryDirectory(LEGACY), agentBinary(LEGACY), configDirectory].map(
    (path) => `path:${path}`,
  ),
  probeKey('activation-lock', [activationLock]),
]
