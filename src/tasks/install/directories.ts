import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { type HostRoot, hostRoots, LEGACY, libraryDirectory, ROOT } from '../agent/paths.ts'
import { inTheWay } from '../general/refusals.ts'

/** The highest first. Of these only what lies at or below a root is the agent's: /opt/unbounded belongs to the host. */
const directories: Readonly<Record<HostRoot, readonly string[]>> = {
  [ROOT]: ['/opt', '/opt/unbounded', ROOT, `${ROOT}/bin`, `${ROOT}/lib`, libraryDirectory(ROOT), `${ROOT}/libexec`],
  [LEGACY]: [LEGACY, `${LEGACY}/bin`, `${LEGACY}/lib`, libraryDirectory(LEGACY)],
}

export const directoriesFacts = (): Fact[] =>
  hostRoots.flatMap((root) => directories[root].map((path): Fact => ({ kind: 'path', path })))

/** Those that are missing are made 0755; those that are there keep mode and owner (domain.md 9.1). */
export const missingDirectories = (view: HostView, root: HostRoot): Change[] | ErrorDetails => {
  const changes: Change[] = []
  for (const path of directories[root]) {
    const node = view.target(path)
    if (node.type === 'directory') {
      if (isAgents(path) && node.uid !== 0) return notRoots(path, node.user || String(node.uid))
      continue
    }
    const itself = view.node(path)
    if (itself.type !== 'absent') return inTheWay(path, itself, 'a directory')
    changes.push({ kind: 'directory', path, mode: 0o755, owner: 'root:root' })
  }
  return changes
}

const isAgents = (path: string): boolean =>
  path.startsWith(`${ROOT}/`) || hostRoots.some((root) => path === libraryDirectory(root))

/** Whoever owns the directory may put another binary where root runs one. */
const notRoots = (path: string, user: string): ErrorDetails => ({
  code: 'layout-unknown',
  message: `${path} belongs to ${user}, and root would run what lies in it.`,
  remedy: `Look at who made it; then chown root:root ${path}, or move it away.`,
})
