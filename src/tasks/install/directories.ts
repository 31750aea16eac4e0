import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { Ownership } from '../../facts/node.ts'
import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { type HostRoot, hostRoots, LEGACY, libraryDirectory, ROOT } from '../agent/paths.ts'
import { inTheWay } from '../general/refusals.ts'
import type { Finding } from '../task.ts'

/** The highest first. A root that is a link counts as what it leads to. */
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
      const why = path === hostsOwn ? null : openTo(node)
      if (why !== null) return notRoots(path, why)
      continue
    }
    const itself = view.node(path)
    if (itself.type !== 'absent') return inTheWay(path, itself, 'a directory')
    changes.push({ kind: 'directory', path, mode: 0o755, owner: 'root:root' })
  }
  return changes
}

/** It belongs to the host, so it is not refused for its owner: told of, and no byte of ours is left in it. */
export const openHostDirectory = (view: HostView, root: HostRoot): Finding[] => {
  const node = root === ROOT ? view.target(hostsOwn) : null
  const why = node?.type === 'directory' ? openTo(node) : null
  if (why === null) return []
  return [
    {
      ...warning({
        check: 'install-directory-open',
        target: hostsOwn,
        message: `${hostsOwn} ${why.what}, so somebody else than root may put another binary where root runs one`,
        remedy: `Look at who made it; then ${why.remedy} ${hostsOwn}. Until then the agent's own preflight is not run, and so no unit is written.`,
      }),
      lasting: true,
    },
  ]
}

const hostsOwn = '/opt/unbounded'

interface Openness {
  readonly what: string
  readonly remedy: string
}

/** Whoever may write to the directory, or owns it, may put another binary where root runs one. */
const openTo = ({ uid, user, mode }: Ownership): Openness | null => {
  if (uid !== 0) return { what: `belongs to ${user || uid}`, remedy: 'chown root:root' }
  return (mode & 0o022) === 0 ? null : { what: 'can be written by others than root', remedy: 'chmod go-w' }
}

const notRoots = (path: string, { what, remedy }: Openness): ErrorDetails => ({
  code: 'layout-unknown',
  message: `${path} ${what}, and root would run what lies below it.`,
  remedy: `Look at who made it; then ${remedy} ${path}, or move it away.`,
})
