import { agentUnit } from '../../src/tasks/agent/names.ts'
import {
  agentUnitFile,
  hostRoots,
  layoutEntry,
  layoutMarkers,
  movingMark,
  ROOT,
  recoveryUnitFile,
} from '../../src/tasks/agent/paths.ts'
import { binaryOf } from './binaries.ts'
import type { LivingHost } from './host.ts'
import { overrideFile, regenerateFile } from './written.ts'

/** 6.7 and 7.8: what the unit runs, and what it and the hooks name, is there: on disk, and as systemd still has it. */
export const lostAgent = (host: LivingHost, mayGo: boolean): string | null => {
  const { disk, loaded, armed } = host
  if (!disk.exists(agentUnitFile)) return null
  const onDisk = named(disk.text(agentUnitFile))
  // Between the files of a guarded switch and its reload the armed rollback answers for it.
  const starts = [onDisk, armed === null ? (loaded.get(agentUnit)?.execStart ?? onDisk) : onDisk]
  const missing = starts.find((path) => host.runs(path) === null)
  if (missing !== undefined) return `6.7: the agent's unit runs ${missing}, and no binary that runs is there`
  const naming = [recoveryUnitFile, overrideFile('kube1'), regenerateFile('kube1')].filter((path) => disk.exists(path))
  const gone = naming.find((path) => disk.stat(named(disk.text(path))).type !== 'file')
  return gone === undefined || mayGo ? null : `7.8: ${gone} names ${named(disk.text(gone))}, which is gone`
}

/** The program that a unit's text has it run. */
const named = (text: string | null): string => /^Exec\w+=(\S+)/m.exec(text ?? '')?.[1] ?? ''

/** U1: what a recovery would bring back has run as an agent here. */
export const badLastGood = ({ disk, ran }: LivingHost, unproved: ReadonlySet<string>): string | null => {
  const never = hostRoots
    .map((root) => layoutEntry(root, 'last-good'))
    // Of files that are just being removed the link may be the last to go.
    .filter((path) => disk.exists(path) && !(disk.exists(movingMark) && disk.stat(path).type === 'absent'))
    .find((path) => ![...ran, ...unproved].includes(disk.digest(path) ?? ''))
  return never === undefined ? null : `U1: ${never} leads to ${disk.text(never)}, which has never run as an agent here`
}

/** U9: below the new root lies nothing that would not find its files there. */
export const tooOld = ({ disk }: LivingHost): string | null => {
  if (disk.lstat(ROOT).type !== 'directory') return null
  const paths = (['current', 'last-good'] as const).map((entry) => layoutEntry(ROOT, entry))
  const old = paths.find((path) => binaryOf(disk.digest(path))?.knowsRoot === false)
  return old === undefined ? null : `U9: ${old} leads to ${disk.text(old)}, which does not know that root`
}

/** 1.1: /opt/unbounded as it belongs to the host: mode, owner, and all that is not the agent's. */
export const hostsOwn = ({ disk }: LivingHost): string => {
  const top = disk.lstat('/opt/unbounded')
  const below = Object.entries(disk.below('/opt/unbounded')).filter(([path]) => !path.startsWith(ROOT))
  return top.type === 'directory' ? JSON.stringify([top.mode, top.user, below]) : 'absent'
}

/** As drover and the agent make it where it is missing. */
export const openHostsOwn = JSON.stringify([0o755, 'root', []])

/** 6.7: two installations are normal only while a move says so. */
export const inBothRoots = ({ disk }: LivingHost): string | null => {
  if (disk.lstat(ROOT).type !== 'directory' || disk.exists(movingMark)) return null
  const both = hostRoots.every((root) => layoutMarkers(root).some((path) => disk.exists(path)))
  return both ? `6.7: both roots hold an installation, and ${movingMark} is not there` : null
}
