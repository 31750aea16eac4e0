import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { nameOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { agentUnit } from '../agent/names.ts'
import {
  agentBinary,
  hostRootAgents,
  hostRoots,
  LEGACY,
  layoutEntry,
  libraryDirectory,
  lifecycleHelper,
  movingMark,
  ROOT,
  stagingRoot,
} from '../agent/paths.ts'
import { writesAgentUnit } from '../switch/unit-files.ts'
import type { Finding } from '../task.ts'
import { layoutFiles, localDnsHelper, strangeFile } from './files.ts'
import { hooks } from './hooks.ts'
import type { Limits } from './limits.ts'
import { asSeen, underLock } from './lock.ts'
import type { Movable } from './movable.ts'
import { rootStart } from './restart.ts'
import { notFromRoot, stillNeeded } from './stuck.ts'
import { unitNames, unitsTo } from './units.ts'

const heldS = 300
const seed = agentBinary(LEGACY)

/** domain.md 6.4. The units first: where that fails, nothing of the old root is removed (M7); the mark of the move last. */
export const secondPass = (view: HostView, movable: Movable, limits: Limits): Change[] | ErrorDetails => {
  const refusal = strangeFile(view, LEGACY)
  if (refusal !== null) return refusal
  const units = unitsTo(view, movable, ROOT)
  if ('code' in units) return units
  const start = rootStart(view, movable, limits, units)
  if ('code' in start) return start
  // A drop-in of somebody's own: the next start would look for what goes.
  if (!unitNames(view, movable, ROOT) && !writesAgentUnit(units)) return notFromRoot(view, movable)
  const needed = namedHelper(view, units)
  if (needed !== null) return needed
  const library = libraryDirectory(LEGACY)
  const changes: Change[] = [
    ...units,
    ...layoutFiles(LEGACY)
      .filter((path) => view.node(path).type !== 'absent' && (path !== seed || isManaged(view)))
      .map(gone),
    ...(view.node(library).type === 'directory' && foreign(view).length === 0 ? [gone(library)] : []),
    ...(view.node(stagingRoot).type === 'directory'
      ? [{ kind: 'remove', path: stagingRoot, recurse: true } as const]
      : []),
    ...[hostRootAgents].filter((path) => view.node(path).type !== 'absent').map(gone),
    gone(movingMark),
  ]
  // Of that process it was seen that none of what goes is its own (Azure/AKSFlexNode#398).
  const mainPid = { unit: agentUnit, property: 'MainPID', value: movable.service.mainPid } as const
  return [...start.room, ...underLock(heldS, changes, [...asSeen(view, [ROOT, movingMark]), mainPid]), ...start.start]
}

/** What a unit of the worker or of LocalDNS names at the old root, once the planned ones are written. */
const namedHelper = (view: HostView, units: readonly Change[]): ErrorDetails | null => {
  for (const { path } of hooks) {
    const written = units.find((change) => change.kind === 'write' && change.path === path)
    const text = written?.kind === 'write' ? String(written.content) : (view.text(path) ?? '')
    const helper = [lifecycleHelper(LEGACY), localDnsHelper(LEGACY)].find((helper) => text.includes(helper))
    if (helper !== undefined) return stillNeeded(path, helper)
  }
  return null
}

const gone = (path: string): Change => ({ kind: 'remove', path, recurse: false })

/** What the agent itself put there; a link of somebody's own is left alone. */
const isManaged = (view: HostView): boolean => {
  const node = view.node(seed)
  if (node.type !== 'symlink') return true
  return hostRoots.some((root) => node.target === layoutEntry(root, 'current'))
}

/** Names in the agent's own directory that are not its own. */
const foreign = (view: HostView): readonly string[] => {
  const own = layoutFiles(LEGACY).map(nameOf)
  return view.entries(libraryDirectory(LEGACY)).filter((name) => !own.includes(name))
}

/** What stays at the old root. */
export const leftBehind = (view: HostView): Finding[] => {
  const names = foreign(view)
  const library = libraryDirectory(LEGACY)
  return [
    ...(names.length === 0
      ? []
      : [
          {
            ...warning({
              check: 'foreign-files-kept',
              target: library,
              message: `${library} holds what is not the agent's, and was kept: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' and more' : ''}`,
              remedy: 'Look at who put it there; the agent needs none of it any more.',
            }),
            lasting: true as const,
          },
        ]),
    ...(view.node(seed).type === 'absent' || isManaged(view)
      ? []
      : [
          {
            ...warning({
              check: 'operator-link-kept',
              target: seed,
              message: `${seed} is a link of an operator, and was kept`,
              remedy: `If it leads to an agent, upgrades are refused as long as it does: link from ${LEGACY}/sbin instead.`,
            }),
            lasting: true as const,
          },
        ]),
  ]
}
