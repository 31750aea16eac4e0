import type { HostRootState } from '../../src/tasks/agent/host-root.ts'
import {
  agentBinary,
  agentUnitFile,
  hostRootAgents,
  hostRoots,
  LEGACY,
  layoutEntry,
  layoutMarkers,
  libraryDirectory,
  lifecycleHelper,
  movingMark,
  recoveryScript,
  recoveryUnitFile,
  stagingRoot,
} from '../../src/tasks/agent/paths.ts'
import { digest } from '../tasks/switch/release.ts'
import type { LivingHost } from './host.ts'
import { overrideFile, regenerateFile } from './written.ts'

/** What a play that ended well has to have brought about; null: it has. */
export const missed = (host: LivingHost, root: HostRootState, play: string): string | null => {
  const [verb, what = ''] = play.split(' ')
  switch (verb) {
    case 'install':
    case 'upgrade':
      return runsRelease(host, what)
    case 'rollback':
      return runsRelease(host, null)
    case 'migrate':
      if (play === 'migrate') return root === 'MOVED' ? leftBehind(host) : `it is ${root}, not MOVED`
      return root === 'LINKED' || root === 'MOVED' ? null : `it is ${root}, not LINKED`
    case 'unlink':
      return ['LEGACY', 'LEGACY-PLAIN', 'ABSENT', 'EMPTY-ROOT'].includes(root) ? null : `it is ${root}`
    case 'reset':
      return stillThere(host, ofDeployment)
    case 'uninstall':
      return ['ABSENT', 'EMPTY-ROOT', 'OPERATOR-LINK', 'BLOCKED'].includes(root)
        ? stillThere(host, [...ofDeployment, '/var/lib/aks-flex-node', stagingRoot, movingMark])
        : `it is ${root}, with an agent laid out`
    default:
      throw new Error(`nobody knows what ${play} is for`)
  }
}

/** `current` leads there, and an agent that is up runs just that. */
const runsRelease = ({ disk, agent }: LivingHost, name: string | null): string | null => {
  const current = hostRoots.map((root) => layoutEntry(root, 'current')).find((path) => disk.stat(path).type === 'file')
  if (current === undefined) return 'there is no current binary'
  if (name !== null && disk.digest(current) !== digest(name)) return `current is ${disk.text(current)}, not ${name}`
  if (agent.active === 'active' && agent.exe !== disk.real(current)) return `the agent runs ${agent.exe}`
  return null
}

const ofDeployment = [
  agentUnitFile,
  recoveryUnitFile,
  overrideFile('kube1'),
  regenerateFile('kube1'),
  ...hostRoots.flatMap((root) => [recoveryScript(root), lifecycleHelper(root)]),
  ...['/etc/aks-flex-node', '/var/log/aks-flex-node', '/var/lib/machines/kube1', '/etc/systemd/nspawn/kube1.nspawn'],
]

const stillThere = ({ disk }: LivingHost, paths: readonly string[]): string | null => {
  const left = paths.filter((path) => disk.exists(path))
  return left.length === 0 ? null : `${left.join(', ')} is still there`
}

/** 11.28: of the agent nothing is left at the old root; an operator's own file keeps its directory. */
const leftBehind = (host: LivingHost): string | null => {
  const isEmpty = host.disk.exists(libraryDirectory(LEGACY)) && host.disk.entries(libraryDirectory(LEGACY)).length === 0
  const paths = [...layoutMarkers(LEGACY), recoveryScript(LEGACY), lifecycleHelper(LEGACY), agentBinary(LEGACY)]
  return isEmpty
    ? `${libraryDirectory(LEGACY)} is still there`
    : stillThere(host, [...paths, stagingRoot, hostRootAgents])
}
