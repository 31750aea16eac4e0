import type { ErrorDetails } from '../../errors.ts'
import type { Node } from '../../facts/node.ts'
import type { MountFacts } from '../../facts/state.ts'

/** `wanted` with its article: `a directory`. */
export const inTheWay = (path: string, node: Node, wanted: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${path} is ${kindText(node)}, and ${wanted} is wanted there. It was left alone.`,
  remedy:
    node.type === 'symlink'
      ? `If what the link leads to is meant, name that place (${node.target}); if the link is not wanted, remove it by path-absent in an earlier step.`
      : 'Correct the path, or move away what is there; path-absent in an earlier step removes it.',
})

const kindText = (node: Node): string => {
  switch (node.type) {
    case 'file':
      return 'a file'
    case 'directory':
      return 'a directory'
    case 'symlink':
      return `a link to ${node.target}`
    default:
      return 'neither a file, a directory nor a link'
  }
}

export const parentMissing = (path: string, missing: readonly string[]): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${path} cannot be made: there is no ${missing.join(', no ')}.`,
  remedy: `Add a step directory-present for ${missing.at(-1) ?? path} before this one, with parents: true to have all that are missing made.`,
})

/** Null where the file system takes a change of that many bytes. */
export const mountRefusal = (
  path: string,
  { mountPoint, fsType, readOnly, freeBytes, freeInodes }: MountFacts,
  bytes?: number,
): ErrorDetails | null => {
  const where = `the file system of ${path} (${fsType} on ${mountPoint})`
  if (readOnly) {
    return {
      code: 'precondition-unmet',
      message: `Nothing can be changed: ${where} is read-only.`,
      remedy:
        'Choose a path on a writable file system. If it was writable before, the kernel may have found errors: see dmesg.',
    }
  }
  if (bytes === undefined) return null
  if (freeBytes < bytes) {
    return {
      code: 'precondition-unmet',
      message: `${bytes} bytes are to be written, and ${where} has ${freeBytes} free.`,
      remedy: 'Make room there first.',
    }
  }
  if (freeInodes === 0 && countsInodes.test(fsType)) {
    return {
      code: 'precondition-unmet',
      message: `No file can be made: ${where} has no inode free.`,
      remedy: 'Remove files there that are not needed.',
    }
  }
  return null
}

// Others (btrfs, overlay, vfat, tmpfs without a limit) say 0 and mean that they do not count.
const countsInodes = /^(ext[234]|xfs)$/

export const mountedOn = (path: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${path} is a mount point, and what is mounted cannot be replaced or removed.`,
  remedy: `Unmount it first: stop its mount unit, or umount ${path} on the host and its line in /etc/fstab.`,
})
