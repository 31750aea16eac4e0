import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { type Fact, mergeFacts } from '../../facts/fact.ts'
import { join, nameOf, parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import {
  agentBinary,
  type HostRoot,
  hostRoots,
  LEGACY,
  layoutMarkers,
  libraryDirectory,
  movingMark,
  ROOT,
  stagingRoot,
} from '../agent/paths.ts'
import { directoriesBelow } from '../move/files.ts'
import { mountsFacts } from './facts.ts'
import { mountedRefusal, readOnlyRefusal, removalOf, removalsOf } from './removal.ts'
import { distinctRoots } from './roots.ts'

const dataDirectory = '/var/lib/aks-flex-node'
/** drover keeps there what undoes a switch, and one line of how the last rollback ended. */
const ownTraces = '/var/lib/drover'
export const uninstalledTrees: readonly string[] = [dataDirectory, stagingRoot]

/** The innermost first: each is removed only when nothing is left in it. */
const directoriesOf = (root: HostRoot): readonly string[] =>
  root === LEGACY ? [libraryDirectory(LEGACY)] : [...directoriesBelow(ROOT)].reverse()

const layoutOf = (root: HostRoot): readonly string[] => [agentBinary(root), ...layoutMarkers(root)]

export const uninstallFacts = (): Fact[] =>
  mergeFacts([
    ...hostRoots.flatMap((root) => [
      ...layoutOf(root).map((path): Fact => ({ kind: 'path', path })),
      ...[...directoriesOf(root), `${root}/bin`].map((path): Fact => ({ kind: 'path', path, entries: true })),
    ]),
    ...[ROOT, movingMark, ...uninstalledTrees].map((path): Fact => ({ kind: 'path', path })),
    { kind: 'path', path: ownTraces, entries: true },
    ...mountsFacts(uninstalledTrees),
    ...[
      ...hostRoots.flatMap((root) => [...layoutOf(root), ...directoriesOf(root)]),
      movingMark,
      ownTraces,
      ...uninstalledTrees,
    ].map((path): Fact => ({ kind: 'mount', path: parentOf(path) })),
  ])

/** What installers and upgrades that were cut leave beside their places (domain.md 1.4). */
const temporary: Readonly<Record<'bin' | 'library', RegExp>> = {
  bin: /^\.(aks-flex-node\.[^/]+|unbounded-agent-nspawn-lifecycle-[^/]+)$/,
  library: /^\.(aks-flex-node-link-[^/]+|agent-upgrade-[^/]+)$/,
}

export interface Uninstall {
  readonly changes: readonly Change[]
  /** Files in the agent's directories that are none of its own. */
  readonly foreign: readonly string[]
}

/** domain.md 8.2: both roots by the names that are known, each place once; what else lies there is not the agent's. */
export const uninstall = (view: HostView): Uninstall | ErrorDetails => {
  const roots = distinctRoots(view)
  const files = roots.flatMap((root) => [...filesOf(view, root), ...temporariesOf(view, root)])
  // Until both installations are gone the mark says why there are two.
  const mark = view.node(ROOT).type === 'directory' ? removalOf(view, movingMark) : []
  const gone = new Set([...files, ...mark].flatMap((change) => (change.kind === 'remove' ? [change.path] : [])))
  const emptied = roots.flatMap((root) => emptiedOf(view, root, gone))
  const changes = [
    ...files,
    ...mark,
    ...emptied,
    ...removalsOf(view, [stagingRoot]),
    ...(isAgentsLink(view) ? removalOf(view, ROOT) : []),
    ...removalsOf(view, [dataDirectory]),
    ...traces(view),
  ]
  const refusal = mountedRefusal(view, uninstalledTrees, uninstalledTrees) ?? readOnlyRefusal(view, changes)
  return refusal ?? { changes, foreign: foreignIn(view, roots, gone) }
}

/** A directory where the agent has a file is somebody's. */
const filesOf = (view: HostView, root: HostRoot): Change[] =>
  layoutOf(root)
    .filter((path) => ['file', 'symlink'].includes(view.node(path).type))
    .flatMap((path) => removalOf(view, path))

const temporariesOf = (view: HostView, root: HostRoot): Change[] =>
  (
    [
      [`${root}/bin`, temporary.bin],
      [libraryDirectory(root), temporary.library],
    ] as const
  ).flatMap(([directory, names]) =>
    view
      .entries(directory)
      .filter((name) => names.test(name))
      .map((name): Change => ({ kind: 'remove', path: join(directory, name), recurse: false })),
  )

/** Through an operator's link the agent's library goes, and the directories that the operator made stay. */
const ownDirectories = (view: HostView, root: HostRoot): readonly string[] =>
  root === ROOT && view.node(ROOT).type === 'symlink' ? [libraryDirectory(ROOT)] : directoriesOf(root)

const emptiedOf = (view: HostView, root: HostRoot, gone: Set<string>): Change[] =>
  ownDirectories(view, root).flatMap((path): Change[] => {
    if (view.node(path).type !== 'directory') return []
    if (!view.entries(path).every((name) => gone.has(join(path, name)))) return []
    gone.add(path)
    return [{ kind: 'remove', path, recurse: false }]
  })

const foreignIn = (view: HostView, roots: readonly HostRoot[], gone: ReadonlySet<string>): string[] =>
  roots.flatMap((root) => {
    const directories = ownDirectories(view, root)
    return directories.flatMap((path) =>
      view
        .entries(path)
        .map((name) => join(path, name))
        .filter((inside) => !gone.has(inside) && !directories.includes(inside)),
    )
  })

export const isAgentsLink = (view: HostView): boolean => {
  const node = view.node(ROOT)
  return node.type === 'symlink' && node.target === LEGACY
}

/** What is armed holds every step back; how an earlier rollback ended the run itself has told, and removes the line. */
const traces = (view: HostView): Change[] =>
  view.node(ownTraces).type === 'directory' &&
  view.entries(ownTraces).every((name) => name === nameOf(toldLine) && view.self.rollback?.phase === 'rolled-back')
    ? [{ kind: 'remove', path: ownTraces, recurse: false }]
    : []

const toldLine = `${ownTraces}/rolled-back`
