import { type Fact, probeKey } from '../../facts/fact.ts'
import { agentUnitFile, configFile, type HostRoot, hostRoots, layoutEntry } from '../agent/paths.ts'
import { versionKeys } from '../agent/version.ts'

const timeoutS = 90

const args = (root: HostRoot): readonly string[] => [layoutEntry(root, 'current'), configFile, agentUnitFile]

/** Known before connecting: where nothing is installed yet, one of the roots has an answer, if any has. */
export const ownPreflightFacts = (): Fact[] =>
  hostRoots.map((root): Fact => ({ kind: 'probe', name: 'agent-preflight', args: args(root), timeoutS }))

export const ownPreflightArgs = args

/** What another binary or another configuration makes unknown of what the agent says. */
export const saidByAgent: readonly string[] = [
  ...hostRoots.map((root) => probeKey('agent-preflight', args(root))),
  ...versionKeys,
]
