import { fine, warning } from '../agent/finding.ts'
import type { Finding } from '../task.ts'
import type { Check } from './check.ts'

/** A check that exists and was not made: shown, and never counted against the host. */
export const notRun = (check: string, why: string): Finding =>
  fine({ check, target: check, message: `not-run: ${why}` })

/** One that is drover's to make and could not be made on this host: nobody has looked, so it is no good one. */
export const couldNotRun = (check: string, why: string, remedy: string): Finding =>
  warning({ check, target: check, message: `not-run: ${why}`, remedy })

const agentOnly = (name: string): Check => ({
  name,
  facts: () => [],
  evaluate: () => [notRun(name, "only the agent's own preflight can judge it")],
})

/** Checks of the agent that need its goal state or a registry (domain.md 4.2). */
export const goalState = agentOnly('goal-state')
export const artefacts: readonly Check[] = [
  'oci-image-reachable',
  'kubernetes-artifacts',
  'cri-artifacts',
  'cni-artifacts',
  'npd-artifact',
].map(agentOnly)
