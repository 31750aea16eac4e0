import type { HostView } from '../../facts/view.ts'
import { configFacts, readConfig } from '../agent/config.ts'
import { fault, fine, warning } from '../agent/finding.ts'
import { keyValues } from '../agent/probe-answer.ts'
import { isRoot } from '../agent/visible.ts'
import type { Check } from './check.ts'

const check = 'localdns-conntrack'
const target = 'nft raw notrack'

/** Needed by LocalDNS alone. Where no config.json says that it is on, a failing rule is no more than a warning. */
export const localDnsConntrack: Check = {
  name: check,
  facts: () => [{ kind: 'probe', name: 'conntrack' }, ...configFacts()],
  evaluate: (view, context) => {
    const localDns = wanted(view)
    if (localDns === 'off') return [fine({ check, target, message: 'LocalDNS is off' })]
    const answer = keyValues(view.probe('conntrack').stdout)
    if (answer.get('nft') === 'missing') {
      const seen = { check, target, message: 'nft is missing, which LocalDNS needs' }
      return [
        context.offline
          ? fault({ ...seen, remedy: 'Install nftables on the host.' })
          : warning({ ...seen, remedy: 'Nothing to do online: bootstrap may install nftables.' }),
      ]
    }
    if (answer.get('notrack') === 'ok') return [fine({ check, target, message: 'the kernel takes a raw notrack rule' })]
    const why = answer.get('why') ?? 'no reason given'
    const seen = {
      check,
      target,
      message: `no raw notrack rule can be made: ${why}`,
      remedy: 'See that the kernel has nf_tables and nft_ct, or set networking.localDNS.mode to Disabled.',
    }
    return [localDns === 'on' && answer.get('notrack') === 'failed' ? fault(seen) : warning(seen)]
  },
}

const wanted = (view: HostView): 'on' | 'off' | 'unsaid' => {
  const config = isRoot(view) ? readConfig(view) : null
  return config?.is === 'valid' ? config.localDns : 'unsaid'
}
