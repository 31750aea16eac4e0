import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { ancestry, parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { configDirectory, LEGACY, libraryDirectory, ROOT, unitDirectory } from '../agent/paths.ts'
import { directoriesBelow, layoutFiles } from './files.ts'

const above = parentOf(ROOT)
const written: readonly string[] = [
  above,
  libraryDirectory(LEGACY),
  `${LEGACY}/bin`,
  `${LEGACY}/libexec`,
  unitDirectory,
  configDirectory,
]

export const placesFacts = (): Fact[] => written.map((path) => ({ kind: 'mount', path }))

/** Looked at before the first byte: the old root is removed in the end, and a file system that is full or read-only half way stops a move half way. */
export const placeRefusal = (view: HostView): ErrorDetails | null => {
  for (const path of written) {
    const { mountPoint, fsType, readOnly } = view.mount(path)
    if (readOnly) return readOnlyAt(path, `${fsType} on ${mountPoint}`)
  }
  const open = openToOthers(view)
  if (open !== null) return notRootsAlone(open)
  const { mountPoint, fsType, noexec } = view.mount(above)
  return noexec ? noexecAt(`${fsType} on ${mountPoint}`) : roomRefusal(view)
}

/**
 * What systemd runs as root must lie where nobody else can put another file (domain.md 7.1). A directory of the host's own is
 * kept as it is, so it is refused and not mended.
 */
const openToOthers = (view: HostView): string | null =>
  ancestry(view.realPath(above)).find((path) => {
    const node = view.node(path)
    return node.type === 'directory' && (node.uid !== 0 || (node.mode & 0o022) !== 0)
  }) ?? null

const notRootsAlone = (path: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `Others than root may write in ${path}, so they could put another agent there, which then runs as root. Nothing was copied.`,
  remedy: `See who needs that (ls -ld ${path}). If nobody does: chown root:root and chmod go-w. Meanwhile --stop-at link is as far as this host can go.`,
})

/** Rule M5. */
const copies = 2
// Others (btrfs, overlay, vfat, tmpfs without a limit) say 0 and mean that they do not count.
const countsInodes = /^(ext[234]|xfs)$/

const roomRefusal = (view: HostView): ErrorDetails | null => {
  const { mountPoint, fsType, freeBytes, freeInodes } = view.mount(above)
  const nodes = layoutFiles(LEGACY).map((path) => view.node(path))
  const bytes = copies * nodes.reduce((sum, node) => sum + (node.type === 'file' ? node.size : 0), 0)
  const inodes = copies * (nodes.length + directoriesBelow(ROOT).length + 1)
  if (freeBytes >= bytes && (freeInodes >= inodes || !countsInodes.test(fsType))) return null
  return {
    code: 'no-space',
    message: `A move wants room for two whole copies of the agent, ${bytes} bytes and ${inodes} inodes, and the file system of ${above} (${fsType} on ${mountPoint}) has ${freeBytes} and ${freeInodes} free.`,
    remedy: 'Make room there first.',
  }
}

const noexecAt = (where: string): ErrorDetails => ({
  code: 'root-noexec',
  message: `The file system of ${above} (${where}) is mounted noexec, so no agent could be run from there. Nothing was copied.`,
  remedy:
    'Mount it with exec. Meanwhile the agent runs from where it is, and --stop-at link is as far as this host can go.',
})

const readOnlyAt = (path: string, where: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `Nothing can be changed in ${path}: its file system (${where}) is mounted read-only.`,
  remedy: 'Make it writable. If it was writable before, the kernel may have found errors: see dmesg.',
})
