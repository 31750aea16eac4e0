import type { Change } from '../../changes/change.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import type { Binary } from '../../release/release.ts'
import { otherSlot } from '../agent/layout.ts'
import { agentBinary, LEGACY, layoutEntry, libraryDirectory } from '../agent/paths.ts'
import { runsAs } from '../agent/runs-as.ts'
import type { Ready } from './ready.ts'
import { link } from './switch-agent.ts'

/**
 * Rule U1: last-good is pointed at what runs now before the other slot is touched, so that no cut can leave it on a
 * binary that nobody has seen running.
 */
export const stagedUpgrade = (view: HostView, { layout }: Ready, binary: Binary, version: string): Change[] => {
  const { root, current } = layout
  const running = layoutEntry(root, current)
  const lastGood = layoutEntry(root, 'last-good')
  const node = view.node(lastGood)
  const secured = node.type === 'symlink' && node.target === running
  return [
    ...(layout.isPlain ? seeded(view) : secured ? [] : [link(lastGood, running)]),
    ...brought(view, layoutEntry(root, otherSlot(current)), binary, {
      path: layout.isPlain ? agentBinary(root) : running,
      sha256: layout.currentSha256,
    }),
    runs(layoutEntry(root, otherSlot(current)), version),
  ]
}

/** O-8: a release before the slots. Its binary is copied into one, which is what a rollback leads to, before it is touched. */
export const seeded = (view: HostView): Change[] => {
  const plain = agentBinary(LEGACY)
  const blue = layoutEntry(LEGACY, 'blue')
  const library = libraryDirectory(LEGACY)
  const node = view.target(plain)
  return [
    ...[parentOf(library), library]
      .filter((path) => view.target(path).type === 'absent')
      .map((path): Change => ({ kind: 'directory', path, mode: 0o755, owner: 'root:root' })),
    {
      kind: 'copy',
      from: plain,
      sha256: view.sha256(plain) ?? '',
      size: node.type === 'file' ? node.size : 0,
      path: blue,
      mode: 0o755,
      owner: 'root:root',
    },
    link(layoutEntry(LEGACY, 'last-good'), blue),
    link(layoutEntry(LEGACY, 'current'), blue),
  ]
}

/** Nothing travels where the slot holds the very binary already. */
const brought = (
  view: HostView,
  path: string,
  { file, sha256, size }: Binary,
  base: { readonly path: string; readonly sha256: string },
): Change[] => {
  const attributes = { mode: 0o755, owner: 'root:root' } as const
  const node = view.node(path)
  if (node.type !== 'file' || view.sha256(path) !== sha256)
    return [{ kind: 'upload', path, artifact: { file, sha256, size }, ...attributes, base }]
  const isFit = node.mode === attributes.mode && node.uid === 0 && node.gid === 0
  return isFit ? [] : [{ kind: 'attributes', path, ...attributes }]
}

/** `version`: what it must say of itself; without one, that it says anything is enough. */
export const runs = (path: string, version?: string): Change =>
  runsAs(path, version, {
    code: 'candidate-unfit',
    message:
      version === undefined
        ? `${path} does not run on this host. Nothing was switched.`
        : `${path} does not run on this host, or does not say that it is ${version}. Nothing was switched.`,
    remedy:
      version === undefined
        ? 'There is nothing fit to go back to: upgrade to a release that is known to be good.'
        : 'Compare `version` of the release with what the binary says when it is run with the argument version; the detail below has what it said.',
  })
