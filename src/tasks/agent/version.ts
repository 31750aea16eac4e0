import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { HostRootState } from './host-root.ts'
import { type HostRoot, hostRoots, LEGACY, layoutEntry, ROOT } from './paths.ts'

const versionCommand = (root: HostRoot): readonly string[] => [layoutEntry(root, 'current'), 'version']

/** One exec cannot chase the root, so both places are asked; the one that is not there answers 127. */
export const versionFacts = (): Fact[] =>
  hostRoots.map((root): Fact => ({ kind: 'command', argv: versionCommand(root), timeoutS: 10 }))

/** Of the installed binary; null where it does not run or says none. */
export const readVersion = (view: HostView, state: HostRootState): string | null =>
  placesOf(state)
    .map((root) => view.command(versionCommand(root)))
    .filter((result) => result.code === 0)
    .map((result) => /^Version:[ \t]*(\S+)/m.exec(result.stdout)?.[1] ?? null)
    .find((version) => version !== null) ?? null

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
