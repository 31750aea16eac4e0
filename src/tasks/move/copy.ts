import type { Change } from '../../changes/change.ts'
import type { HostView } from '../../facts/view.ts'
import { slots } from '../agent/layout.ts'
import { agentBinary, LEGACY, layoutEntry, libraryDirectory, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { runsAs } from '../agent/runs-as.ts'
import { directoriesBelow, layoutFiles, rebased, staged } from './files.ts'

/**
 * The copy beside its place, with the mark of a move inside, so that both come there at once. Each of its binaries is run
 * before anything else changes.
 */
export const copyBeside = (view: HostView): Change[] => [
  ...(view.node(stagingRoot).type === 'absent'
    ? []
    : [{ kind: 'remove', path: stagingRoot, recurse: view.node(stagingRoot).type === 'directory' } as const]),
  ...directoriesBelow(stagingRoot).map(
    (path): Change => ({ kind: 'directory', path, mode: modeOf(view, path), owner: 'root:root' }),
  ),
  ...layoutFiles(LEGACY).flatMap((path) => copyOf(view, path)),
  {
    kind: 'write',
    path: `${stagingRoot}${movingMark.slice(ROOT.length)}`,
    content: '',
    mode: 0o644,
    owner: 'root:root',
  },
  ...slots
    .map((slot) => layoutEntry(LEGACY, slot))
    .filter((path) => view.node(path).type === 'file')
    .map((path) => runsAs(staged(path), undefined, copyUnfit(staged(path)))),
]

/** Of the directories only the library is the agent's own at the old root. */
const modeOf = (view: HostView, path: string): number => {
  const library = view.target(libraryDirectory(LEGACY))
  return path === staged(libraryDirectory(LEGACY)) && library.type === 'directory' ? library.mode : 0o755
}

const copyOf = (view: HostView, path: string): Change[] => {
  const node = view.node(path)
  if (node.type === 'symlink') return [{ kind: 'link', path: staged(path), target: rebased(node.target) }]
  // Before an agent's first start it is a binary of its own; from then on it is whatever runs (domain.md 1.1).
  if (path === agentBinary(LEGACY)) return [{ kind: 'link', path: staged(path), target: layoutEntry(ROOT, 'current') }]
  if (node.type !== 'file') return []
  const owner = `${node.user || node.uid}:${node.group || node.gid}`
  const { mode, size } = node
  return [{ kind: 'copy', from: path, sha256: view.sha256(path) ?? '', size, path: staged(path), mode, owner }]
}

/** Where SELinux is on: below /opt a new file has a type that systemd may not run. */
export const labels = (view: HostView): Change[] => {
  const program = view.os.selinux === 'disabled' ? null : view.program('restorecon')
  return program === null ? [] : [{ kind: 'run', argv: [program, '-RF', ROOT], timeoutMs: 60_000, spoils: [] }]
}

export const runsAtRoot = (): Change => runsAs(layoutEntry(ROOT, 'current'), undefined, copyUnfit(ROOT))

export const copyUnfit = (path: string): NonNullable<Change['failure']> => ({
  code: 'copy-unfit',
  message: `The copy of the agent at ${path} does not run, although the one it was made of does.`,
  remedy: `Look at what keeps programs from running there: findmnt --target ${ROOT}, SELinux (ausearch -m AVC), fapolicyd or the like. drover status says how the host stands; then run again.`,
})
