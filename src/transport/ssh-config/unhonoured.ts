import type { Host } from '../../inventory/host.ts'
import { algorithmsFor } from '../ssh2/algorithms.ts'
import type { Answer } from './ask-ssh.ts'
import type { Directive } from './config-tree.ts'
import type { Evaluated } from './evaluate.ts'

interface Rule {
  /** As the manual writes it. */
  readonly name: string
  /** Whether this value asks for something; absent: any value does. */
  readonly asks?: (value: string, answer: Answer) => boolean
  /** The openssh client does it, and is taken where it is asked for. */
  readonly byOpenssh?: true
  /** Distributions write it into the system's file for everybody. */
  readonly isCommon?: true
}

const isYes = (value: string): boolean => /^(yes|true)$/i.test(value)
const isNo = (value: string): boolean => /^(no|false)$/i.test(value)
const isNone = (value: string): boolean => value.toLowerCase() === 'none'
const own = algorithmsFor([])

/** Drover's client has none of these. */
const leavesNothing =
  (algorithms: unknown) =>
  (value: string): boolean => {
    const listed = value.split(',')
    return Array.isArray(algorithms) && !algorithms.some((one: string) => listed.includes(one))
  }

/** What would change how or whether a host is reached, and is not done by drover itself. The rest of ssh_config is a matter of terminals. */
const rules: Readonly<Record<string, Rule>> = {
  proxycommand: { name: 'ProxyCommand', asks: (value) => !isNone(value), byOpenssh: true },
  gssapiauthentication: { name: 'GSSAPIAuthentication', asks: isYes, byOpenssh: true, isCommon: true },
  pkcs11provider: { name: 'PKCS11Provider', asks: (value) => !isNone(value), byOpenssh: true },
  securitykeyprovider: { name: 'SecurityKeyProvider', asks: (value) => value !== 'internal', byOpenssh: true },
  kexalgorithms: { name: 'KexAlgorithms', isCommon: true },
  hostkeyalgorithms: { name: 'HostKeyAlgorithms', isCommon: true },
  ciphers: { name: 'Ciphers', isCommon: true },
  macs: { name: 'MACs', isCommon: true },
  pubkeyacceptedalgorithms: { name: 'PubkeyAcceptedAlgorithms', isCommon: true },
  hostbasedauthentication: { name: 'HostbasedAuthentication', asks: isYes },
  pubkeyauthentication: { name: 'PubkeyAuthentication', asks: isNo },
  passwordauthentication: { name: 'PasswordAuthentication', asks: isNo },
  kbdinteractiveauthentication: { name: 'KbdInteractiveAuthentication', asks: isNo },
  preferredauthentications: { name: 'PreferredAuthentications' },
  revokedhostkeys: { name: 'RevokedHostKeys', asks: (value) => !isNone(value) },
  knownhostscommand: { name: 'KnownHostsCommand', asks: (value) => !isNone(value) },
  verifyhostkeydns: { name: 'VerifyHostKeyDNS', asks: (value) => !isNo(value) },
  nohostauthenticationforlocalhost: { name: 'NoHostAuthenticationForLocalhost', asks: isYes },
  addressfamily: { name: 'AddressFamily', asks: (value) => value.toLowerCase() !== 'any' },
  bindaddress: { name: 'BindAddress' },
  bindinterface: { name: 'BindInterface' },
  connecttimeout: { name: 'ConnectTimeout', asks: (value) => !isNone(value) },
  forwardagent: { name: 'ForwardAgent', asks: (value) => !isNo(value) },
  setenv: { name: 'SetEnv' },
  sendenv: { name: 'SendEnv', isCommon: true },
  localcommand: {
    name: 'LocalCommand',
    asks: (_, answer) => isYes(answer.get('permitlocalcommand')?.[0] ?? 'no'),
  },
  remotecommand: { name: 'RemoteCommand', asks: (value) => !isNone(value) },
  localforward: { name: 'LocalForward' },
  remoteforward: { name: 'RemoteForward' },
  dynamicforward: { name: 'DynamicForward' },
  tag: { name: 'Tag' },
}

/** The algorithms that only the openssh client may satisfy. */
const exclusive: Readonly<Record<string, (value: string) => boolean>> = {
  kexalgorithms: leavesNothing(own.kex),
  hostkeyalgorithms: leavesNothing(own.serverHostKey),
  ciphers: leavesNothing(own.cipher),
}

export interface Asked {
  readonly keyword: string
  readonly name: string
  /** Where it is written; undefined: only ssh knows. */
  readonly at: Directive
  /** The openssh client is the answer to it. */
  readonly isForOpenssh: boolean
}

/** What the files ask for this host beyond what drover does itself. */
export const askedBeyond = ({ values }: Evaluated, answer: Answer): readonly Asked[] =>
  Object.entries(rules).flatMap(([keyword, { name, asks, byOpenssh, isCommon }]): Asked[] => {
    const at = values.get(keyword)?.find(({ isSystems }) => isCommon !== true || !isSystems)
    if (at === undefined) return []
    const value = answer.get(keyword)?.[0] ?? at.args.join(' ')
    if (asks !== undefined && !asks(value, answer)) return []
    return [{ keyword, name, at, isForOpenssh: byOpenssh ?? exclusive[keyword]?.(value) ?? false }]
  })

/** Those that nothing will do: not the client that the host is going to be reached with. */
export const notDone = (asked: readonly Asked[], { transport = 'auto' }: Pick<Host, 'transport'>): readonly Asked[] =>
  asked.filter(({ isForOpenssh }) => !isForOpenssh || transport === 'ssh2')
