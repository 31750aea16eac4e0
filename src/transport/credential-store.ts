import type { ParsedKey } from 'ssh2'
import type { InputFault } from '../errors.ts'
import { InputError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { listAgentKeys } from './agent.ts'
import type { Credential } from './auth-handler.ts'
import { listCredentials } from './auth-handler.ts'
import type { TransportNotice } from './connection.ts'
import type { KeyCache, PassphraseProvider } from './keys.ts'
import { loadKeys } from './keys.ts'
import type { KnownHosts, KnownHostsCache } from './known-hosts.ts'
import { loadKnownHosts } from './known-hosts.ts'

const agentMs = 5_000

export interface CredentialStoreOptions {
  readonly passphrase: PassphraseProvider
  readonly agentSocket?: string | undefined
  readonly knownHosts?: KnownHostsCache
  readonly keys?: KeyCache
  readonly notify: (notice: TransportNotice) => void
}

/** What connections need of this machine: read once, for all hosts. */
export interface CredentialStore {
  knownHostsOf(host: Host): Promise<KnownHosts>
  credentialsOf(host: Host): Promise<Credential[]>
  /** Rejects with all that is unusable, before any host is touched. */
  prepare(hosts: readonly Host[]): Promise<void>
}

export const createCredentialStore = (options: CredentialStoreOptions): CredentialStore => {
  const { passphrase, agentSocket, notify, knownHosts: knownHostsCache = new Map(), keys: cache = new Map() } = options
  let listing: Promise<ParsedKey[]> | undefined

  const agentKeys = (host: Host): Promise<ParsedKey[]> => {
    if (agentSocket === undefined) return Promise.resolve([])
    listing ??= listAgentKeys(agentSocket, agentMs).catch((error: Error) => {
      notify({ host: host.name, message: `ssh-agent at ${agentSocket} is of no use: ${error.message}` })
      return []
    })
    return listing
  }

  const keysOf = async (host: Host) =>
    loadKeys(host.identityFiles, passphrase, { cache, agentKeys: await agentKeys(host) })

  const knownHostsOf = (host: Host): Promise<KnownHosts> => {
    // What is off must not fail on a file it does not need; what learns may begin with none.
    const files = host.hostKeyPolicy === 'off' ? ['/dev/null'] : host.knownHostsFiles
    return loadKnownHosts(files, { cache: knownHostsCache, mayBeMissing: host.hostKeyPolicy === 'accept-new' })
  }

  return {
    knownHostsOf,
    credentialsOf: async (host) =>
      listCredentials({ user: host.user, keys: await keysOf(host), agentSocket, agentKeys: await agentKeys(host) }),
    prepare: async (hosts) => {
      const all = hosts.flatMap((host) => [...host.jump, host])
      const files = [...new Set(all.flatMap((host) => host.identityFiles))]
      const first = all[0]
      const keys = async () => first && loadKeys(files, passphrase, { cache, agentKeys: await agentKeys(first) })
      throwAll(await Promise.allSettled([...all.map(knownHostsOf), keys()]))
    },
  }
}

/** Every fault in one error, which has the code of the first: who corrects one file at a time starts drover for each. */
const throwAll = (results: readonly PromiseSettledResult<unknown>[]): void => {
  const reasons = results.filter((result) => result.status === 'rejected').map(({ reason }): unknown => reason)
  const unforeseen = reasons.find((reason) => !(reason instanceof InputError))
  if (unforeseen !== undefined) throw unforeseen
  const errors = reasons.filter((reason) => reason instanceof InputError)
  const faults = new Map<string, InputFault>()
  for (const fault of errors.flatMap((error) => error.faults)) faults.set(`${fault.file}\0${fault.message}`, fault)
  if (errors[0] !== undefined) throw new InputError(errors[0].code, [...faults.values()])
}
