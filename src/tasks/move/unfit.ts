import { type Fact, probeKey } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { slots } from '../agent/layout.ts'
import { hostRoots, LEGACY, layoutEntry, ROOT } from '../agent/paths.ts'
import { staged } from './files.ts'

const versionOf = (path: string): Fact => ({ kind: 'probe', name: 'agent-version', args: [path], timeoutS: 10 })

export const unfitFacts = (): Fact[] => [
  ...hostRoots.map((root) => versionOf(layoutEntry(root, 'current'))),
  ...slots.flatMap((slot) => [versionOf(layoutEntry(LEGACY, slot)), versionOf(staged(layoutEntry(LEGACY, slot)))]),
]

/** What was said of binaries that lay elsewhere, before the copy was there. */
export const copyVersions: readonly string[] = unfitFacts().flatMap((fact) =>
  fact.kind === 'probe' ? [probeKey(fact.name, fact.args ?? [])] : [],
)

/** `unseen`: it was not run, since others than root could have put it there. */
const running = (view: HostView, path: string): 'runs' | 'fails' | 'unseen' => {
  const { code, stdout } = view.probe('agent-version', [path])
  if (code === 0) return 'runs'
  return /^(not-roots|writable)=/m.test(stdout) ? 'unseen' : 'fails'
}

/** The copy at the new root is seen not to run. */
export const isUnfitAtRoot = (view: HostView): boolean => running(view, layoutEntry(ROOT, 'current')) === 'fails'

export const runsAtLegacy = (view: HostView): boolean => running(view, layoutEntry(LEGACY, 'current')) === 'runs'

/** A whole copy of a binary that runs, and which does not run itself. */
export const unfitStaged = (view: HostView): string | null =>
  slots
    .map((slot) => layoutEntry(LEGACY, slot))
    .filter((path) => view.node(path).type === 'file' && view.node(staged(path)).type === 'file')
    .filter((path) => view.sha256(path) === view.sha256(staged(path)))
    .filter((path) => running(view, path) === 'runs' && running(view, staged(path)) === 'fails')
    .map(staged)[0] ?? null
