import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { machines } from '../agent/names.ts'
import {
  agentBinary,
  configDirectory,
  hostRoots,
  libraryDirectory,
  machineBinary,
  unitDirectory,
} from '../agent/paths.ts'

/** Where the host keeps what undoes a switch. */
const ownDirectory = '/var/lib/drover'

const places: readonly string[] = [
  ...hostRoots.flatMap((root) => [libraryDirectory(root), parentOf(agentBinary(root))]),
  ...machines.map((machine) => parentOf(machineBinary(machine))),
  configDirectory,
  unitDirectory,
  ownDirectory,
]

export const placesFacts = (): Fact[] => places.map((path) => ({ kind: 'mount', path }))

/** Looked at before the first byte: a file system that is full or read-only half way would leave half a switch. */
export const placeRefusal = (view: HostView, changes: readonly Change[]): ErrorDetails | null => {
  const needs = new Map<string, { readonly bytes: number; readonly runs: boolean }>()
  const need = (path: string, bytes: number, runs = false): void => {
    const place = nearest(path)
    if (place === undefined) return
    const before = needs.get(place)
    needs.set(place, { bytes: (before?.bytes ?? 0) + bytes, runs: runs || (before?.runs ?? false) })
  }
  for (const change of changes) {
    if (change.kind === 'arm') for (const path of [unitDirectory, ownDirectory]) need(path, roomOfItsOwn)
    else if (change.kind === 'upload') need(change.path, change.artifact.size, true)
    else if (change.kind === 'copy') need(change.path, change.size)
    else if ('path' in change) need(change.path, 0)
  }
  for (const path of keptBy(changes)) need(ownDirectory, sizeThere(view, path))
  return [...needs].map(([path, { bytes, runs }]) => refusalAt(view, path, bytes, runs)).find((e) => e !== null) ?? null
}

const roomOfItsOwn = 65_536

const inWorkers: readonly string[] = machines.map(machineBinary)

/** What is replaced behind the armed rollback is kept until it is confirmed; a worker's binary the host makes anew. */
const keptBy = (changes: readonly Change[]): ReadonlySet<string> => {
  const arms = changes.findIndex(({ kind }) => kind === 'arm')
  const guarded = arms < 0 ? [] : changes.slice(arms + 1)
  return new Set(
    guarded.flatMap((change) => ('path' in change && !inWorkers.includes(change.path) ? [change.path] : [])),
  )
}

const nearest = (path: string): string | undefined =>
  places.filter((place) => path === place || path.startsWith(`${place}/`)).sort((a, b) => b.length - a.length)[0]

const sizeThere = (view: HostView, path: string): number => {
  const node = view.node(path)
  return node.type === 'file' ? node.size : 0
}

const refusalAt = (view: HostView, path: string, bytes: number, runs: boolean): ErrorDetails | null => {
  const { mountPoint, fsType, readOnly, noexec, freeBytes, freeInodes } = view.mount(path)
  const where = `the file system of ${path} (${fsType} on ${mountPoint})`
  if (readOnly || (runs && noexec)) {
    return {
      code: 'precondition-unmet',
      message: `${readOnly ? 'Nothing can be changed' : 'No agent could be run'}: ${where} is mounted ${readOnly ? 'read-only' : 'noexec'}.`,
      remedy: readOnly
        ? 'Make it writable, or bring the change with the image of the host. If it was writable before, the kernel may have found errors: see dmesg.'
        : 'Mount it with exec: the agent runs from there.',
    }
  }
  if (freeBytes >= bytes && (freeInodes >= 16 || !countsInodes.test(fsType))) return null
  return {
    code: 'no-space',
    message: `${bytes} bytes are to be put there, and ${where} has ${freeBytes} and ${freeInodes} inodes free.`,
    remedy: 'Make room there first.',
  }
}

// Others (btrfs, overlay, vfat, tmpfs without a limit) say 0 and mean that they do not count.
const countsInodes = /^(ext[234]|xfs)$/
