import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { configFacts } from '../agent/config.ts'
import { fault, warning } from '../agent/finding.ts'
import { offline } from '../agent/offline.ts'
import { isInstalled, readService, serviceFacts, type Variant } from '../agent/service.ts'
import type { Finding } from '../task.ts'

/** What every check may know beside its own facts. */
export interface CheckContext {
  readonly host: Host
  /** W6: config.json's word where there is one. */
  readonly offline: boolean
  /** Measured where an agent is installed (W5), else the inventory's word. */
  readonly variant: Variant
  /** An agent is installed: what a fresh host must not have is then as it should be (W7). */
  readonly deployed: boolean
}

/** One probe of rule W7, under the name that the agent's own preflight gives it (domain.md 4.2). */
export interface Check {
  readonly name: string
  facts(host: Host): readonly Fact[]
  /** At least one finding, unless there is nothing of the kind to report. */
  evaluate(view: HostView, context: CheckContext): readonly Finding[]
}

export const contextFacts = (): Fact[] => [...serviceFacts(), ...configFacts()]

export const contextOf = (view: HostView, host: Host): CheckContext => ({
  host,
  offline: offline(view, host).offline,
  variant: readService(view)?.variant ?? host.variant,
  deployed: isInstalled(view),
})

/** What is a fault of a fresh host is a warning on a deployed one, and says so. */
export const faultUnlessDeployed = (
  context: CheckContext,
  seen: { readonly check: string; readonly target: string; readonly message: string; readonly remedy: string },
): Finding =>
  context.deployed
    ? warning({
        ...seen,
        message: `${seen.message}, as on a deployed host`,
        remedy: 'Nothing to do: preflight judges fresh hosts, and here an agent is installed.',
      })
    : fault(seen)
