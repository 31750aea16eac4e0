import type { Fact } from '../../facts/fact.ts'
import type { Node } from '../../facts/node.ts'
import { nameOf, parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { fine } from '../agent/finding.ts'
import { agentBinary, hostRoots, layoutMarkers, libraryDirectory, ROOT, unitDirectory } from '../agent/paths.ts'
import type { Finding } from '../task.ts'
import { hostRouteUnits, unitFileOf } from './belongings.ts'

/** What a reset leaves on the host for good reasons (domain.md 8.3), as far as a path can tell. */
const kept: readonly string[] = [
  parentOf(ROOT),
  ROOT,
  ...hostRoots.map(agentBinary),
  '/var/lib/aks-flex-node',
  `${unitDirectory}/nftables-flush.service`,
  ...hostRouteUnits.map(unitFileOf),
  '/etc/sysctl.d/99-kubernetes.conf',
]

const layouts = hostRoots.map((root) => ({ directory: libraryDirectory(root), entries: layoutMarkers(root) }))

export const keptFacts = (): Fact[] =>
  [...kept, ...layouts.flatMap(({ entries }) => entries)].map((path) => ({ kind: 'path', path }))

/** One finding for all that was looked at and is there. */
export const keptFinding = (view: HostView): Finding[] => {
  const there = [
    ...kept.flatMap((path) => shown(path, view.node(path))),
    ...layouts.flatMap(({ directory, entries }) => {
      const names = entries.filter((path) => view.node(path).type !== 'absent').map(nameOf)
      return names.length === 0 ? [] : [`${names.join(' ')} in ${directory}`]
    }),
  ]
  if (there.length === 0) return []
  return [fine({ check: 'kept', target: 'host', message: `seen and kept: ${there.join(', ')}` })]
}

const shown = (path: string, node: Node): string[] => {
  if (node.type === 'absent') return []
  return [node.type === 'symlink' ? `${path} -> ${node.target}` : path]
}
