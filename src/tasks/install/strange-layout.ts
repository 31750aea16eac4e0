import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { notRoots, slots, strangeNode } from '../agent/layout.ts'
import { agentBinary, type HostRoot, hostRoots, layoutEntry, lifecycleHelper } from '../agent/paths.ts'

/** What lies where the layout belongs and is no release's: it is somebody's, and left alone (domain.md 9.2). */
export const strangeLayout = (view: HostView, root: HostRoot): ErrorDetails | null =>
  [
    ...slots.map((slot) => notRoots(view, layoutEntry(root, slot))),
    ...(['current', 'last-good'] as const).map((entry) => notALink(view, root, layoutEntry(root, entry))),
    foreignLink(view, root),
    notRoots(view, lifecycleHelper(root)),
  ].find((error) => error !== null) ?? null

/** One that leads nowhere may be replaced: whatever it led to is gone. */
const notALink = (view: HostView, root: HostRoot, path: string): ErrorDetails | null => {
  const node = view.node(path)
  if (node.type === 'absent') return null
  if (node.type !== 'symlink') return unknown(path, `a ${node.type}, where a link to a slot belongs`)
  if (view.target(path).type === 'absent') return null
  const isOurs = slots.some((slot) => view.realPath(layoutEntry(root, slot)) === view.realPath(path))
  return isOurs ? null : unknown(path, `a link to ${node.target}, which is no slot`)
}

/** A plain binary is the seed that install.sh leaves; the link to `current` is what a reset keeps (domain.md 9.2). */
const foreignLink = (view: HostView, root: HostRoot): ErrorDetails | null => {
  const path = agentBinary(root)
  const node = view.node(path)
  if (node.type === 'absent' || (node.type === 'file' && node.uid === 0)) return null
  if (node.type === 'symlink' && hostRoots.some((each) => node.target === layoutEntry(each, 'current'))) return null
  return {
    code: 'path-in-the-way',
    message: `${path} is ${strangeNode(node)}, which no release of the agent makes. It was left alone.`,
    remedy: 'Look at who put it there. If it may go, remove it; then run again.',
  }
}

const unknown = (path: string, what: string): ErrorDetails => ({
  code: 'layout-unknown',
  message: `${path} is ${what}.`,
  remedy:
    'Look at the directory by hand. No release leaves it like that, and drover replaces nothing it does not know.',
})
