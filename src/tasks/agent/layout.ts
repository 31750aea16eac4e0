import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { Node } from '../../facts/node.ts'
import type { HostView } from '../../facts/view.ts'
import { type HostRootState, hostRootRow } from './host-root.ts'
import {
  agentBinary,
  agentUnitFile,
  type HostRoot,
  hostRoots,
  LEGACY,
  layoutEntry,
  libraryDirectory,
  ROOT,
} from './paths.ts'

/** The two places of a binary: `current` and `last-good` each lead to one of them (domain.md 7.1). */
export const slots = ['blue', 'green'] as const
export type Slot = (typeof slots)[number]
export const otherSlot = (slot: Slot): Slot => (slot === 'blue' ? 'green' : 'blue')

/** How the agent's binaries lie on a host whose root does not move just now. */
export interface Layout {
  readonly root: HostRoot
  /** A release before the slots: one plain binary, which will be the blue one (O-8). */
  readonly isPlain: boolean
  readonly current: Slot
  readonly currentSha256: string
  /** Null where `last-good` is missing or leads to no binary. */
  readonly lastGood: Slot | null
}

export const layoutFacts = (): Fact[] =>
  hostRoots.flatMap((root) => [
    { kind: 'path', path: libraryDirectory(root) },
    { kind: 'path', path: agentBinary(root), sha256: true },
    ...(['blue', 'green', 'current', 'last-good'] as const).map(
      (entry): Fact => ({ kind: 'path', path: layoutEntry(root, entry), sha256: true }),
    ),
  ])

/** The root whose files are the agent's own; null where that is on its way, disputed, or not to be seen. */
export const settledRoot = (state: HostRootState): HostRoot | null => {
  const { switches, when } = hostRootRow(state)
  if (!switches) return null
  return when.root === 'directory' ? ROOT : LEGACY
}

export const readLayout = (view: HostView, state: HostRootState, root: HostRoot): Layout | ErrorDetails => {
  if (state === 'LEGACY-PLAIN' || (state === 'LEGACY' && isHalfSeeded(view))) {
    const currentSha256 = view.sha256(agentBinary(root)) ?? ''
    return { root, isPlain: true, current: 'blue', currentSha256, lastGood: null }
  }
  const current = slotBehind(view, root, 'current')
  if (current === null) return noSlot(view, layoutEntry(root, 'current'))
  const strange = slots.map((slot) => notRoots(view, layoutEntry(root, slot))).find((error) => error !== null)
  if (strange !== undefined) return strange
  return {
    root,
    isPlain: false,
    current,
    currentSha256: view.sha256(layoutEntry(root, current)) ?? '',
    lastGood: slotBehind(view, root, 'last-good'),
  }
}

/** An upgrade from a release before the slots that was cut while it laid them out: the agent still runs the plain binary. */
const isHalfSeeded = (view: HostView): boolean =>
  view.node(layoutEntry(LEGACY, 'current')).type === 'absent' &&
  view.node(agentBinary(LEGACY)).type === 'file' &&
  view.node(agentUnitFile).type !== 'absent'

/** The slot that a link leads to, by its real place: its text may be older than the root. */
export const slotBehind = (view: HostView, root: HostRoot, link: 'current' | 'last-good'): Slot | null => {
  const path = layoutEntry(root, link)
  if (view.node(path).type !== 'symlink' || view.target(path).type !== 'file') return null
  const place = view.realPath(path)
  return slots.find((slot) => view.realPath(layoutEntry(root, slot)) === place) ?? null
}

const noSlot = (view: HostView, path: string): ErrorDetails => {
  const node = view.node(path)
  const found = node.type === 'symlink' ? `a link to ${node.target}` : node.type
  return {
    code: 'layout-unknown',
    message: `${path} leads to neither of the agent's two binaries: it is ${found}.`,
    remedy: `Look at the directory by hand. No release leaves it like that, and drover guesses nothing.`,
  }
}

/** What the agent itself demands of every path of an upgrade (domain.md 7.1). */
export const notRoots = (view: HostView, path: string): ErrorDetails | null => {
  const node = view.node(path)
  if (node.type === 'absent' || (node.type === 'file' && node.uid === 0)) return null
  return {
    code: 'layout-unknown',
    message: `${path} is ${strangeNode(node)}, where a binary of root belongs.`,
    remedy: 'Look at who put it there. No release leaves it like that, and drover replaces nothing it does not know.',
  }
}

/** What is not what it should be, in words. */
export const strangeNode = (node: Node): string => {
  if (node.type === 'symlink') return `a link to ${node.target}`
  return node.type === 'file' ? `a file of ${node.user || node.uid}` : `a ${node.type}`
}
