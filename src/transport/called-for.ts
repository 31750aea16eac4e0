import type { Host, SshOptions } from '../inventory/host.ts'
import { algorithmsFor } from './ssh2/algorithms.ts'

/** What is to be known of this machine and its files before the client for a host is chosen. */
export interface ChoiceFacts {
  /** Why drover's own client cannot use a key that is named for the host. */
  readonly unusableKeys: readonly string[]
  /** known_hosts vouches for the host's key by a certificate authority alone. */
  readonly isAuthorityOnly: boolean
  readonly hasTicket: boolean
}

export interface Choice {
  readonly transport: 'ssh2' | 'openssh'
  /** Why it is not drover's own client, where nobody has asked for another; as it continues `goes by ssh:`. */
  readonly because?: string
}

/** The client that a host calls for: drover's own, unless it is told another or cannot do what is asked. */
export const calledFor = (host: Host, facts: ChoiceFacts): Choice => {
  const { transport = 'auto' } = host
  if (transport !== 'auto') return { transport }
  const [because] = [...wantsOf(host.sshOptions, facts), ...facts.unusableKeys, ...hostKeyWants(host, facts)]
  return because === undefined ? { transport: 'ssh2' } : { transport: 'openssh', because }
}

const wantsOf = (options: SshOptions | undefined, { hasTicket }: ChoiceFacts): string[] => {
  if (options === undefined) return []
  const wants: [boolean, string][] = [
    [options.proxyCommand !== undefined, 'its ssh_config has a ProxyCommand'],
    [options.gssapi === true && hasTicket, 'its ssh_config has GSSAPIAuthentication, and there is a Kerberos ticket'],
    [options.pkcs11Provider !== undefined, 'its ssh_config has a PKCS11Provider'],
    [options.securityKeyProvider !== undefined, 'its ssh_config has a SecurityKeyProvider'],
    ...algorithmWants(options),
  ]
  return wants.flatMap(([isWanted, because]) => (isWanted ? [because] : []))
}

const own = algorithmsFor([])
const listed = (algorithms: unknown): readonly string[] => (Array.isArray(algorithms) ? (algorithms as string[]) : [])
const algorithmLists: readonly [field: 'kexAlgorithms' | 'hostKeyAlgorithms' | 'ciphers', string, readonly string[]][] =
  [
    ['kexAlgorithms', 'KexAlgorithms', listed(own.kex)],
    ['hostKeyAlgorithms', 'HostKeyAlgorithms', listed(own.serverHostKey)],
    ['ciphers', 'Ciphers', listed(own.cipher)],
  ]

const algorithmWants = (options: SshOptions): [boolean, string][] =>
  algorithmLists.map(([field, name, own]) => {
    const wanted = options[field]
    const isForeign = wanted !== undefined && !own.some((algorithm) => wanted.includes(algorithm))
    return [isForeign, `its ssh_config has ${name} of which drover's own client speaks none`]
  })

const hostKeyWants = ({ hostKeyPolicy }: Host, { isAuthorityOnly }: ChoiceFacts): string[] =>
  isAuthorityOnly && hostKeyPolicy !== 'off'
    ? ['known_hosts vouches for its key by a certificate authority alone (@cert-authority)']
    : []

export const tooLongForSsh2 = "longer than drover's own client takes"

/** Why the far side is nothing for drover's own client, by the words of its error; undefined: it is not for that. */
export const whyForeignToSsh2 = (message: string): string | undefined => {
  if (message.includes(tooLongForSsh2)) return `its login banner is ${tooLongForSsh2}`
  return /no matching (?:key exchange algorithm|host key format|[CS]->[CS] (?:cipher|MAC))/i.test(message)
    ? "drover's own client and it have no algorithm in common"
    : undefined
}
