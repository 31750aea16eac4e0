import type { Node } from '../../facts/node.ts'
import { ancestry } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'

/** The agent keeps its configuration and state 0600: without root they are not wrong but unseen. */
export const isRoot = (view: HostView): boolean => view.os.uid === 0

/** Whether whoever read the facts could look at this path at all. Asked first, so that no getter has to throw. */
export const isVisible = (view: HostView, path: string): boolean =>
  isRoot(view) ||
  ancestry(path)
    .slice(0, -1)
    .every((directory) => maySearch(view.target(directory), view.os.uid))

// Group membership is not a fact, so a directory open to a group alone counts as closed.
const maySearch = (node: Node, uid: number): boolean =>
  node.type !== 'directory' || (node.mode & 0o001) !== 0 || (node.uid === uid && (node.mode & 0o100) !== 0)
