import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { strangeNode } from '../agent/layout.ts'
import {
  agentBinary,
  type HostRoot,
  hostRoots,
  LEGACY,
  layoutEntry,
  libraryDirectory,
  lifecycleHelper,
  ROOT,
  recoveryScript,
  stagingRoot,
} from '../agent/paths.ts'

export const localDnsHelper = (root: HostRoot): string => `${root}/libexec/unbounded-localdns-network`

/** What a move takes along: the eight files of domain.md 1.1, in the order in which they are copied and removed. */
export const layoutFiles = (root: HostRoot): readonly string[] => [
  layoutEntry(root, 'blue'),
  layoutEntry(root, 'green'),
  layoutEntry(root, 'current'),
  layoutEntry(root, 'last-good'),
  recoveryScript(root),
  lifecycleHelper(root),
  localDnsHelper(root),
  agentBinary(root),
]

/** The directories that a root consists of, each after the one it lies in. */
export const directoriesBelow = (root: string): readonly string[] =>
  ['', '/bin', '/lib', '/lib/aks-flex-node', '/libexec'].map((below) => `${root}${below}`)

/** Where a file of the old root lies in the copy. */
export const staged = (path: string): string => `${stagingRoot}${path.slice(LEGACY.length)}`

/** What a link of the old root leads to once the copy is in its place; one that leads elsewhere stays as it is. */
export const rebased = (target: string): string =>
  target.startsWith(`${LEGACY}/`) ? `${ROOT}${target.slice(LEGACY.length)}` : target

export const filesFacts = (): Fact[] => [
  ...hostRoots.flatMap(layoutFiles).map((path): Fact => ({ kind: 'path', path, sha256: true })),
  ...layoutFiles(LEGACY).map((path): Fact => ({ kind: 'path', path: staged(path), sha256: true })),
  { kind: 'path', path: libraryDirectory(LEGACY), entries: true },
  ...hostRoots.map((root): Fact => ({ kind: 'path', path: recoveryScript(root), content: 65_536, sha256: true })),
]

/** Where a file or a link of the agent belongs there may be something that nobody can move or remove as one. */
export const strangeFile = (view: HostView, root: HostRoot): ErrorDetails | null => {
  const path = layoutFiles(root).find((file) => !['file', 'symlink', 'absent'].includes(view.node(file).type))
  if (path === undefined) return null
  return {
    code: 'path-in-the-way',
    message: `${path} is ${strangeNode(view.node(path))}, where the agent has a file. It was left alone.`,
    remedy: 'Look at who put it there, and move it away.',
  }
}
