import { foreignKeys } from '../provision/config.ts'
import type { Merged } from '../provision/merge.ts'
import { hasQuery, isBeforeHostRoot } from '../provision/source.ts'
import { hostList } from './provision-faults.ts'
import type { HostInputs } from './provision-inputs.ts'

export interface Rendered {
  readonly inputs: readonly HostInputs[]
  /** Hosts on which nobody's key comes with the provisioning. */
  readonly keyless: readonly string[]
  readonly merge: Merged | null
  /** Whether the host has a read-only /usr, and nothing but this lets anybody in. */
  readonly isImage: boolean
}

/** What works and may be regretted later. */
export const warningsOf = ({ inputs, keyless, merge, isImage }: Rendered): readonly string[] => {
  const hostsOf = (is: (one: HostInputs) => boolean): readonly string[] =>
    inputs.filter(is).map(({ host }) => host.name)
  const foreign = [...new Set(inputs.flatMap(({ provision }) => foreignKeys(provision)))]
  const found: readonly (readonly [message: string, of: readonly string[]])[] = [
    [
      'the URL of the agent has a query: that is a secret, and it expires; pin a version and its digest at an address that stays',
      hostsOf(({ source }) => hasQuery(source)),
    ],
    [
      'the agent is older than the first that knows /opt/unbounded/agent, and cannot live on a host with a read-only /usr',
      isImage ? hostsOf(({ agent }) => isBeforeHostRoot(agent)) : [],
    ],
    [
      'no SSH key is given, so nobody can log in afterwards; give --ssh-authorized-key, or --merge with a user',
      isImage && !merge?.mayLetIn ? keyless : [],
    ],
    ...foreign.map((key) => [`drover knows no release of the agent that reads ${key}`, ['config.json']] as const),
  ]
  return found.filter(([, of]) => of.length > 0).map(([message, of]) => `${message} (${hostList(of)})`)
}
