import {
  type HostRoot,
  hostRootAgents,
  LEGACY,
  layoutEntry,
  layoutMarkers,
  movingMark,
  ROOT,
  upgradeSignalFile,
} from '../../src/tasks/agent/paths.ts'
import { type AgentBinary, binaryOf } from './binaries.ts'
import type { LivingHost } from './host.ts'
import { firstPass, goOn } from './move.ts'
import { GivesUp, unitsOf, writeFiles, writesUnits } from './written.ts'

const hasLayout = (host: LivingHost, root: HostRoot): boolean =>
  layoutMarkers(root).some((path) => host.disk.exists(path))

/**
 * One life of the agent from its start until it is ready for work, step by step (domain.md 6.2 to 6.5). After each
 * step it can be killed.
 */
export function* life(host: LivingHost): Generator<string> {
  const binary = binaryOf(host.disk.digest(host.agent.exe))
  if (binary === null || !binary.staysUp) throw new GivesUp('crashes')
  if (!binary.knowsRoot) return yield* beforeTheRoot(host, binary)
  const { disk } = host
  const node = disk.lstat(ROOT)
  if (node.type === 'other' || node.type === 'file') throw new GivesUp('is not a directory')
  if (node.type === 'directory' && disk.exists(movingMark)) return yield* goOn(host)
  if (node.type === 'directory' && hasLayout(host, LEGACY)) throw new GivesUp('installed under both')
  if (node.type === 'directory' || (node.type === 'symlink' && node.target !== LEGACY))
    return yield* writesUnits(host, ROOT)
  if (!hasLayout(host, LEGACY)) {
    disk.remove(ROOT)
    throw new GivesUp('is not installed')
  }
  if (node.type === 'absent') yield* links(host)
  const known = (disk.text(hostRootAgents) ?? '').split('\n').filter((line) => line !== '')
  const own = disk.digest(host.agent.exe) ?? ''
  if (!known.includes(own)) {
    disk.write(hostRootAgents, `${[...known, own].join('\n')}\n`, 0o600)
    yield 'noted its digest'
  }
  yield* writesUnits(host, LEGACY)
  if (isReady(host)) yield* firstPass(host)
}

function* beforeTheRoot(host: LivingHost, binary: AgentBinary): Generator<string> {
  if (binary.name === 'plain') return
  if (!hasLayout(host, LEGACY)) throw new GivesUp('cannot find its files')
  yield* writeFiles(host, unitsOf(LEGACY, binary))
}

export function* links({ disk }: LivingHost): Generator<string> {
  disk.directories('/opt/unbounded')
  yield '/opt/unbounded is there'
  disk.link(ROOT, LEGACY)
  yield 'linked'
}

const isReady = ({ disk, weather, lock }: LivingHost): boolean => {
  const listed = (disk.text(hostRootAgents) ?? '').split('\n')
  const both = (['current', 'last-good'] as const).every((entry) =>
    listed.includes(disk.digest(layoutEntry(LEGACY, entry)) ?? 'none'),
  )
  return both && !weather.noexec && lock === null && !disk.exists(upgradeSignalFile)
}
