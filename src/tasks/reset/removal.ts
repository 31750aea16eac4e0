import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { mountRefusal } from '../general/refusals.ts'

/** Only what is there is removed: on a read-only file system even what is absent answers with an error. */
export const removalOf = (view: HostView, path: string): Change[] => {
  const { type } = view.node(path)
  return type === 'absent' ? [] : [{ kind: 'remove', path, recurse: type === 'directory' }]
}

export const removalsOf = (view: HostView, paths: readonly string[]): Change[] =>
  paths.flatMap((path) => removalOf(view, path))

/** Where something that is to go lies on a file system that takes no change. */
export const readOnlyRefusal = (view: HostView, changes: readonly Change[]): ErrorDetails | null => {
  for (const change of changes) {
    if (change.kind !== 'remove') continue
    const { readOnly, mountPoint, fsType, ...mount } = view.mount(parentOf(change.path))
    const refusal = readOnly ? mountRefusal(change.path, { ...mount, readOnly, mountPoint, fsType }) : null
    if (refusal !== null) return refusal
  }
  return null
}

/** Mount points at these trees or below. `asked`: the arguments of the one probe that was asked about all of them. */
export const mountsIn = (view: HostView, paths: readonly string[], asked: readonly string[]): readonly string[] => {
  const places = paths.map((path) => view.realPath(path))
  return view
    .probe('mounts-below', asked)
    .stdout.split('\n')
    .flatMap((line) => (line.startsWith('mount=') ? [line.slice('mount='.length)] : []))
    .filter((point) => places.some((place) => point === place || point.startsWith(`${place}/`)))
}

/** What is mounted in a directory is not the agent's, and would be lost, or carried along, with it. */
export const mountedRefusal = (
  view: HostView,
  paths: readonly string[],
  asked: readonly string[],
): ErrorDetails | null => {
  const there = paths.filter((path) => view.node(path).type === 'directory')
  if (there.length === 0) return null
  const [point] = mountsIn(view, there, asked)
  if (point !== undefined)
    return {
      code: 'precondition-unmet',
      message: `${point} is mounted in what is to be removed. Nothing was changed by this step.`,
      remedy: `Save what is on it if anybody needs that, then umount ${point} on the host, and run again.`,
    }
  if (view.probe('mounts-below', asked).stdout.includes('whole=yes')) return null
  return {
    code: 'precondition-unmet',
    message: `Whether something is mounted in ${there.join(', ')} cannot be said: the host's list of mounts could not be read.`,
    remedy: 'Look at it with findmnt on the host.',
  }
}
