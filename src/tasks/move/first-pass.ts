import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import {
  agentBinary,
  type HostRoot,
  hostRootAgents,
  LEGACY,
  layoutEntry,
  movingMark,
  ROOT,
  stagingRoot,
  upgradeSignalFile,
} from '../agent/paths.ts'
import { undisturbed } from '../switch/undisturbed.ts'
import { copyBeside, labels, runsAtRoot } from './copy.ts'
import type { Limits } from './limits.ts'
import { asSeen, underLock } from './lock.ts'
import type { Movable } from './movable.ts'
import { rootStart } from './restart.ts'
import { copyVersions } from './unfit.ts'
import { unitNames, unitsTo } from './units.ts'

/** Digests of big files, binaries that are run, a tree that is removed: as long as all of them may take together. */
const heldS = 1800

/** domain.md 6.3: the copy beside, run, swapped in and run again before any unit names it; then the start from it. */
export const firstPass = (view: HostView, movable: Movable, limits: Limits): Change[] | ErrorDetails => {
  const swap: Change[] = [
    { kind: 'remove', path: ROOT, recurse: false },
    { kind: 'rename', from: stagingRoot, to: ROOT, spoils: copyVersions },
  ]
  const relies = [
    ...undisturbed(view).filter((seen) => !('path' in seen) || seen.path !== stagingRoot),
    ...asSeen(view, [stagingRoot, hostRootAgents, ...links(LEGACY)]),
  ]
  return onto(view, movable, limits, { before: [...copyBeside(view), ...swap], relies })
}

/** The copy is in its place, put there by a run that was cut, or by the agent: the same from there on. */
export const restOfFirstPass = (view: HostView, movable: Movable, limits: Limits): Change[] | ErrorDetails =>
  onto(view, movable, limits, {
    before: [],
    relies: asSeen(view, [ROOT, movingMark, upgradeSignalFile, ...links(ROOT)]),
  })

const onto = (
  view: HostView,
  movable: Movable,
  limits: Limits,
  { before, relies }: { before: readonly Change[]; relies: ReturnType<typeof asSeen> },
): Change[] | ErrorDetails => {
  const units = unitsTo(view, movable, ROOT)
  if ('code' in units) return units
  const start = rootStart(view, movable, limits, units)
  if ('code' in start) return start
  const isThere = before.length === 0 && units.length === 0 && unitNames(view, movable, ROOT)
  const changes = isThere ? [] : [...before, ...labels(view), runsAtRoot(), ...units]
  const [first, ...rest] = start.start
  // Nothing left to write, so the lock is not needed; the move may be over by the time the agent is restarted, though.
  const begin = first === undefined ? [] : [{ ...first, relies: [...(first.relies ?? []), ...markThere] }, ...rest]
  return [...start.room, ...underLock(heldS, changes, relies), ...begin]
}

/** An upgrade of the agent's own may have come and gone before drover had the lock, and have left the same two files. */
const links = (root: HostRoot): readonly string[] => [
  layoutEntry(root, 'current'),
  layoutEntry(root, 'last-good'),
  agentBinary(root),
]

const markThere = [{ path: movingMark, is: 'file' }] as const
