import { type Fact, probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { HostRootState } from './host-root.ts'
import { type HostRoot, hostRoots, type LayoutEntry, LEGACY, layoutEntry, ROOT } from './paths.ts'

const placesOfEntry = (entry: LayoutEntry): readonly string[] => hostRoots.map((root) => layoutEntry(root, entry))

/** One exec cannot chase the root, so both places are asked; the one that is not there has no answer. */
export const versionFacts = (entry: LayoutEntry = 'current'): Fact[] =>
  placesOfEntry(entry).map((path): Fact => ({ kind: 'probe', name: 'agent-version', args: [path], timeoutS: 10 }))

export const versionKeys: readonly string[] = placesOfEntry('current').map((path) => probeKey('agent-version', [path]))

/** Of the installed binary; null where it does not run, says none, or is not root's, so that it was not run. */
export const readVersion = (view: HostView, state: HostRootState): string | null =>
  placesOf(state)
    .map((root) => versionOf(view, root, 'current'))
    .find((version) => version !== null) ?? null

/** `entry` must have been asked for by versionFacts. */
export const versionOf = (view: HostView, root: HostRoot, entry: LayoutEntry): string | null => {
  const { code, stdout } = view.probe('agent-version', [layoutEntry(root, entry)])
  return code === 0 ? (/^Version:[ \t]*(\S+)/m.exec(stdout)?.[1] ?? null) : null
}

const placesOf = (state: HostRootState): readonly HostRoot[] => {
  switch (state) {
    case 'MOVED':
    case 'MOVING-2':
    case 'EMPTY-ROOT':
    case 'OPERATOR-LINK':
      return [ROOT]
    case 'UNREADABLE':
    case 'CONFLICT':
      return [ROOT, LEGACY]
    default:
      return [LEGACY]
  }
}
