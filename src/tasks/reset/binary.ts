import { type Fact, mergeFacts } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentBinary, hostRoots, layoutEntry } from '../agent/paths.ts'

/** The new root's first, as the agent's own uninstaller has it: an older release does not know that root. */
const candidates: readonly string[] = hostRoots.flatMap((root) => [layoutEntry(root, 'current'), agentBinary(root)])

export const binaryFacts = (): Fact[] =>
  mergeFacts(candidates.map((path): Fact => ({ kind: 'probe', name: 'agent-version', args: [path], timeoutS: 10 })))

/** One that is root's own and says its version; null where there is none whose `reset` could be run. */
export const usableBinary = (view: HostView): string | null =>
  candidates.find((path) => {
    const { code, stdout } = view.probe('agent-version', [path])
    return code === 0 && /^Version:[ \t]*\S/m.test(stdout)
  }) ?? null
