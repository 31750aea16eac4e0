import type { HostView } from '../../facts/view.ts'
import { type HostRoot, hostRoots, LEGACY, ROOT } from '../agent/paths.ts'

/** Both roots, or one where a link makes them the same: each file is seen, and removed, once. */
export const distinctRoots = (view: HostView): readonly HostRoot[] =>
  view.node(ROOT).type === 'symlink' && view.realPath(ROOT) === view.realPath(LEGACY) ? [LEGACY] : hostRoots
