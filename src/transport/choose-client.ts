import type { Host } from '../inventory/host.ts'
import { type Choice, type ChoiceFacts, calledFor } from './called-for.ts'
import { keyPlaceOf } from './host-keys/host-pattern.ts'
import { judgeHostKey } from './host-keys/known-hosts-lookup.ts'
import { hasKerberosTicket } from './kerberos.ts'
import type { CredentialStore } from './login/credential-store.ts'
import { wayKey } from './way-key.ts'

export type ChooseClient = (host: Host) => Promise<Choice>

/** Looks at what the choice depends on, and chooses. A way is gone by one client: hops that call for ssh call for it on the whole way. */
export const createChooser = (
  store: Pick<CredentialStore, 'knownHostsOf' | 'needsOpenSsh'>,
  env: Readonly<Record<string, string | undefined>>,
): ChooseClient => {
  const chosen = new Map<string, Promise<Choice>>()
  let ticket: Promise<boolean> | undefined

  const factsOf = async (host: Host): Promise<ChoiceFacts> => {
    if (host.sshOptions?.gssapi === true) ticket ??= hasKerberosTicket(env)
    const [unusableKeys, known, hasTicket] = await Promise.all([
      store.needsOpenSsh(host),
      // What is wrong with the file is for `prepare` to say.
      store.knownHostsOf(host).catch(() => undefined),
      ticket ?? false,
    ])
    const { address, port } = keyPlaceOf(host)
    const verdict = known && judgeHostKey(known.about(address, port), Buffer.alloc(0))
    return { unusableKeys, hasTicket, isAuthorityOnly: verdict?.status === 'unknown' && verdict.hasAuthority }
  }
  const choose = async (host: Host): Promise<Choice> => {
    const { transport = 'auto' } = host
    return calledFor(host, transport === 'auto' ? await factsOf(host) : nothingToKnow)
  }
  const chooseHop = (hop: Host): Promise<Choice> => {
    const key = JSON.stringify([wayKey([hop]), hop.transport, hop.sshOptions])
    const known = chosen.get(key) ?? choose(hop)
    chosen.set(key, known)
    return known
  }
  return async (host) => {
    const { transport = 'auto' } = host
    if (transport !== 'auto') return choose(host)
    const own = await choose(host)
    if (own.transport === 'openssh') return own
    for (const hop of host.jump) {
      const { transport, because } = await chooseHop(hop)
      if (transport === 'openssh')
        return { transport, because: `its jump host ${hop.name} does${because ? `: ${because}` : ''}` }
    }
    return own
  }
}

const nothingToKnow: ChoiceFacts = { unusableKeys: [], isAuthorityOnly: false, hasTicket: false }
