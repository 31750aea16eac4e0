import type { Value } from '../../../src/playbook/value.ts'
import type { Release } from '../../../src/release/release.ts'
import { agentUpgraded } from '../../../src/tasks/agent-upgraded.ts'
import { paramsOf, planOn, stateFor } from '../general/planning.ts'
import type { HostLiteral } from '../host-state.ts'
import { digest, release } from './release.ts'

/** The candidate of these tests. */
export const wanted = release('v0.4.0', 'new')

/** Parameters as they are when the release has been fetched. */
export const upgradeParams = (more: { readonly [key: string]: Value } = {}, of: Release = wanted) => {
  const written = { version: 'v0.4.0', amd64: { file: '/cache/new', sha256: digest('new') } }
  return { ...paramsOf(agentUpgraded, { release: written, ...more }), release: of }
}

export const upgradeOn = (
  literal: HostLiteral,
  more: { readonly [key: string]: Value } = {},
  of: Release = wanted,
): ReturnType<typeof planOn> => {
  const params = upgradeParams(more, of)
  return planOn(agentUpgraded, params, stateFor(agentUpgraded, params, literal))
}
