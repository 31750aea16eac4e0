import type { InputFault } from '../../errors.ts'
import { InputError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { TransportNotice } from '../connection.ts'
import type { KnownHosts, KnownHostsCache } from '../host-keys/known-hosts.ts'
import { loadKnownHosts } from '../host-keys/known-hosts.ts'
import { type AgentIdentity, listAgentKeys } from './agent.ts'
import { type CertificateCache, type CertificateFile, loadCertificates } from './certificate-files.ts'
import { type Credentials, listCredentials } from './credentials.ts'
import type { KeyCache, PassphraseProvider } from './keys.ts'
import { loadKeys, needsOpenSsh } from './keys.ts'

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
  credentialsOf(host: Host): Promise<Credentials>
  /** What the ssh-agent of this host holds. */
  agentKeysOf(host: Host): Promise<readonly AgentIdentity[]>
  /** Why ssh2 cannot log in at this host with what is configured for it. */
  needsOpenSsh(host: Host): Promise<string[]>
  /** Rejects with all that is unusable, before any host is touched. */
  prepare(hosts: readonly Host[]): Promise<void>
}

export const createCredentialStore = (options: CredentialStoreOptions): CredentialStore => {
  const { passphrase, notify, knownHosts: knownHostsCache = new Map(), keys: cache = new Map() } = options
  const certificateCache: CertificateCache = new Map()
  const listings = new Map<string, Promise<AgentIdentity[]>>()

  const agentKeys = (host: Host): Promise<AgentIdentity[]> => {
    const socket = agentSocketOf(host, options.agentSocket)
    if (socket === undefined) return Promise.resolve([])
    const listing =
      listings.get(socket) ??
      listAgentKeys(socket, agentMs).catch((error: Error) => {
        notify({ host: host.name, message: `ssh-agent at ${socket} is of no use: ${error.message}` })
        return []
      })
    listings.set(socket, listing)
    return listing
  }

  const keysOf = async (host: Host) =>
    loadKeys(host.identityFiles, passphrase, { cache, agentKeys: await agentKeys(host) })

  const certificatesOf = ({ certificateFiles: named = [], identityFiles }: Host): Promise<CertificateFile[]> =>
    loadCertificates({ named, identityFiles }, certificateCache)

  const knownHostsOf = (host: Host): Promise<KnownHosts> => {
    // What is off must not fail on a file it does not need; what learns may begin with none.
    const files = host.hostKeyPolicy === 'off' ? ['/dev/null'] : host.knownHostsFiles
    // Nor does ssh want the files of its configuration to be there.
    const isOfSshConfig = host.sshOptions !== undefined && host.given?.includes('knownHostsFiles') !== true
    const mayBeMissing = host.hostKeyPolicy === 'accept-new' || isOfSshConfig
    return loadKnownHosts(files, { cache: knownHostsCache, mayBeMissing })
  }

  return {
    knownHostsOf,
    agentKeysOf: agentKeys,
    credentialsOf: async (host) => {
      const [keys, certificates, held] = await Promise.all([keysOf(host), certificatesOf(host), agentKeys(host)])
      const { identitiesOnly = false } = host
      return listCredentials({ keys, certificates, agentKeys: held, identitiesOnly, now: new Date() })
    },
    needsOpenSsh: async (host) => needsOpenSsh(host.identityFiles, await agentKeys(host)),
    prepare: async (hosts) => {
      const all = hosts.flatMap((host) => [...host.jump, host])
      const known = all.map(knownHostsOf)
      // Hosts share few sets of keys, and each set is looked at once.
      const sets = new Map(all.map((host) => [keySetOf(host), host]))
      const reading = [...sets.values()].flatMap((host) => [keysOf(host), certificatesOf(host)])
      throwAll(await Promise.allSettled([...known, ...reading]))
    },
  }
}

const keySetOf = ({ identityFiles, certificateFiles, identityAgent }: Host): string =>
  JSON.stringify([identityFiles, certificateFiles, identityAgent])

/** As in ssh_config: `none`, the name of the variable, or a path. */
const agentSocketOf = ({ identityAgent }: Host, environment: string | undefined): string | undefined => {
  if (identityAgent === undefined || identityAgent === 'SSH_AUTH_SOCK') return environment
  return identityAgent === 'none' ? undefined : identityAgent
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
