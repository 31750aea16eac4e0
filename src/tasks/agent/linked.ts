import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { hostRootAgents, LEGACY, layoutEntry, upgradeSignalFile } from './paths.ts'

/** Why a LINKED host has not moved yet (domain.md 6.1): at its agent's next start it does, unless one of these. */
export type LinkedBecause = 'ready' | 'waiting-for-release' | 'waiting-for-upgrade' | 'blocked-noexec'

/** For whoever wonders why a linked host does not move. */
export const linkedWords: Readonly<Record<LinkedBecause, string>> = {
  ready: 'both binaries know the new root; it moves at the next start of the agent, or by drover run migrate',
  'waiting-for-release':
    'the running binary or last-good is not known to know the new root; the upgrade that pushes the old one out changes that',
  'waiting-for-upgrade': 'the verdict on an upgrade that the cluster asked for is pending',
  'blocked-noexec': 'the file system of /opt/unbounded is mounted noexec, so nothing could run there',
}

const moveTo = '/opt/unbounded'
const running = [layoutEntry(LEGACY, 'current'), layoutEntry(LEGACY, 'last-good')]

export const linkedFacts = (): Fact[] => [
  { kind: 'path', path: hostRootAgents, content: 65_536 },
  { kind: 'path', path: upgradeSignalFile },
  { kind: 'mount', path: moveTo },
  ...running.map((path): Fact => ({ kind: 'path', path, sha256: true })),
]

/** Of a host in state LINKED; needs root. Only binaries that know the new root are listed in the file. */
export const readLinked = (view: HostView): LinkedBecause => {
  const listed = (view.text(hostRootAgents) ?? '').split(/\s+/).filter((digest) => digest !== '')
  if (!running.every((path) => listed.includes(view.sha256(path) ?? 'none'))) return 'waiting-for-release'
  if (view.node(upgradeSignalFile).type !== 'absent') return 'waiting-for-upgrade'
  return view.mount(moveTo).noexec ? 'blocked-noexec' : 'ready'
}
