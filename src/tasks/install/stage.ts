import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import type { Binary } from '../../release/release.ts'
import { otherSlot, type Slot, slotBehind, slots } from '../agent/layout.ts'
import { agentBinary, type HostRoot, layoutEntry, libraryDirectory } from '../agent/paths.ts'
import { runsAs } from '../agent/runs-as.ts'
import type { Finding } from '../task.ts'
import { missingDirectories, openHostDirectory } from './directories.ts'
import { keptBinary } from './kept-binary.ts'
import { saidByAgent } from './own-preflight.ts'
import { strangeLayout } from './strange-layout.ts'

interface Staged {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

interface Staging {
  readonly root: HostRoot
  readonly binary: Binary
  readonly version: string
}

/**
 * The layout of domain.md 7.1 with this binary in one slot and both links on it. No unit names any of it yet, so each
 * prefix of the changes leaves a host that runs what it ran; and `current` moves only after the binary was run.
 */
export const stage = (view: HostView, staging: Staging): Staged | ErrorDetails => {
  const { root, binary, version } = staging
  const strange = strangeLayout(view, root)
  if (strange !== null) return strange
  const directories = missingDirectories(view, root)
  if ('code' in directories) return directories
  const kept = keptBinary(view, root, binary.sha256)
  if ('code' in kept) return kept
  const findings = [...openHostDirectory(view, root), ...kept.findings]
  const slot = slotFor(view, root, binary)
  const path = layoutEntry(root, slot)
  const isHeld = view.sha256(path) === binary.sha256
  const links = linksTo(view, root, slot)
  if (isHeld && links.length === 0) return { changes: directories, findings }
  const noexec = noexecRefusal(view, root)
  if (noexec !== null) return noexec
  const changes: Change[] = [
    ...directories,
    ...(isHeld ? [] : [upload(view, root, slot, binary)]),
    runsAs(path, version, unfit(path, version)),
    ...kept.changes,
    ...links,
  ]
  return { changes, findings }
}

/** Where the binary is already; else the one that a kept layout does not point at. */
const slotFor = (view: HostView, root: HostRoot, { sha256 }: Binary): Slot => {
  const current = slotBehind(view, root, 'current')
  const holders = slots.filter((slot) => view.sha256(layoutEntry(root, slot)) === sha256)
  if (current !== null && holders.includes(current)) return current
  return holders[0] ?? (current === null ? 'blue' : otherSlot(current))
}

const upload = (view: HostView, root: HostRoot, slot: Slot, artifact: Binary): Change => {
  const kept = slotBehind(view, root, 'current')
  const base = kept === null ? null : view.sha256(layoutEntry(root, kept))
  return {
    kind: 'upload',
    path: layoutEntry(root, slot),
    artifact,
    mode: 0o755,
    owner: 'root:root',
    spoils: saidByAgent,
    ...(kept !== null && base !== null && { base: { path: layoutEntry(root, kept), sha256: base } }),
  }
}

/** The way back first: a `current` without it would be a host that could not recover. */
const linksTo = (view: HostView, root: HostRoot, slot: Slot): Change[] => [
  ...linkUnlessThere(view, layoutEntry(root, 'last-good'), layoutEntry(root, slot)),
  ...linkUnlessThere(view, layoutEntry(root, 'current'), layoutEntry(root, slot)),
  ...linkUnlessThere(view, agentBinary(root), layoutEntry(root, 'current')),
]

/** The text of a link may name the same place through another root. */
const linkUnlessThere = (view: HostView, path: string, target: string): Change[] => {
  const node = view.node(path)
  const fits =
    node.type === 'symlink' && view.target(path).type === 'file' && view.realPath(path) === view.realPath(target)
  return fits ? [] : [{ kind: 'link', path, target, spoils: saidByAgent }]
}

const noexecRefusal = (view: HostView, root: HostRoot): ErrorDetails | null => {
  const path = libraryDirectory(root)
  const { noexec, mountPoint } = view.mount(path)
  if (!noexec) return null
  return {
    code: 'precondition-unmet',
    message: `No agent could be run from ${path}: ${mountPoint} is mounted noexec (install-directory-noexec).`,
    remedy: `Mount ${mountPoint} with exec.`,
  }
}

const unfit = (path: string, version: string): NonNullable<Change['failure']> => ({
  code: 'candidate-unfit',
  message: `${path} was put there and does not run, or does not say that it is version ${version}. No unit names it.`,
  remedy: `Run it by hand on the host (${path} version); compare with the version that the release is said to have.`,
})
