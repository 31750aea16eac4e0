import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit } from '../agent/names.ts'
import { configDirectory, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { asSeen, underLock } from '../move/lock.ts'
import {
  dropIn,
  hostRouteLinks,
  hostRouteUnits,
  lifecycleStates,
  localDnsInterface,
  localDnsTable,
  logDirectory,
  machineDirectories,
  nspawnFiles,
  scriptsBelow,
  trees,
  unitFileOf,
  unitFiles,
  units,
  workerDropIns,
} from './belongings.ts'
import { mountsBelow } from './facts.ts'
import { networkKey, readNetwork } from './network.ts'
import { mountedRefusal, readOnlyRefusal, removalsOf } from './removal.ts'
import { distinctRoots } from './roots.ts'
import { disableOf, isMask, isUp, stopOf } from './stopped.ts'

/** Stopping two workers takes minutes, and so does removing what they hold. */
const heldS = 1800

/**
 * What is left of the agent, by name, in both roots. All is stopped and disabled first,
 * then the unit files go, and only then what they ran: no prefix of it leaves a unit enabled whose file or program is gone.
 */
export const sweep = (view: HostView, wanted: { readonly remove_host_routes: boolean }): Change[] | ErrorDetails => {
  if (isUp(view, agentUnit)) return stillRuns
  const changes = [
    ...unitChanges(view, wanted.remove_host_routes),
    ...networkChanges(view),
    ...removalsOf(view, distinctRoots(view).flatMap(scriptsBelow)),
    ...removalsOf(view, [...nspawnFiles, ...machineDirectories, ...lifecycleStates]),
    ...removalsOf(view, [configDirectory, logDirectory]),
  ]
  const refusal = mountedRefusal(view, trees, mountsBelow) ?? readOnlyRefusal(view, changes)
  if (refusal !== null) return refusal
  return underLock(heldS, changes, asSeen(view, [ROOT, movingMark, stagingRoot]))
}

const unitChanges = (view: HostView, hasRoutes: boolean): Change[] => {
  // Not stopped: that would stop every machine that requires them, whoever's it is. Their routes stay until the next boot.
  const routes = hasRoutes ? hostRouteUnits : []
  const before = [
    ...units.flatMap((unit) => stopOf(view, unit)),
    ...[...units, ...routes].flatMap((unit) => disableOf(view, unit)),
  ]
  const files = removalsOf(view, [
    ...[...unitFiles, ...routes.map(unitFileOf)].filter((path) => !isMask(view.node(path))),
    // Where systemd knows the unit, disabling it has removed the link.
    ...routes.filter((unit) => !view.unit(unit).isLoaded).flatMap(hostRouteLinks),
    ...workerDropIns,
  ])
  const removed = [...files, ...dropInRemoval(view)]
  const isLoadedAnew = removed.length > 0 || before.some(({ kind }) => kind === 'remove')
  return [...before, ...removed, ...(isLoadedAnew ? [{ kind: 'systemctl', verb: 'daemon-reload' } as const] : [])]
}

/** An operator may have drop-ins of their own beside ours. */
const dropInRemoval = (view: HostView): Change[] => {
  const directory = parentOf(dropIn)
  const others = view.entries(directory).filter((name) => `${directory}/${name}` !== dropIn)
  return removalsOf(view, others.length === 0 && view.node(directory).type === 'directory' ? [directory] : [dropIn])
}

/** The unit of LocalDNS may take its table along when it is stopped: to delete it is no error then. */
const networkChanges = (view: HostView): Change[] => {
  const { table, hasLocalDns } = readNetwork(view)
  const run = (program: string, ...args: readonly string[]): Change => ({
    kind: 'run',
    argv: [view.program(program) ?? program, ...args],
    timeoutMs: 30_000,
    spoils: [networkKey],
  })
  return [
    ...(table === 'present' ? [run('nft', `add table ip ${localDnsTable}; delete table ip ${localDnsTable}`)] : []),
    ...(hasLocalDns ? [run('ip', 'link', 'delete', localDnsInterface)] : []),
  ]
}

const stillRuns: ErrorDetails = {
  code: 'precondition-unmet',
  message: `${agentUnit} runs, and would write anew what is removed. Nothing was changed by this step.`,
  remedy: 'Add a step agent-stopped before this one, as the playbook reset has it.',
}
