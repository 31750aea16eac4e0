import type { HostKeyPolicy, SshOptions } from '../../inventory/host.ts'
import type { Answer } from './ask-ssh.ts'
import type { Evaluated } from './evaluate.ts'
import { expandEnvironment, expandHome, expandTokens, type Tokens } from './tokens.ts'
import { type Asked, askedBeyond } from './unhonoured.ts'

/** What ssh_config says about one destination; undefined: nothing. */
export interface SshSettings {
  readonly hostname: string
  readonly user: string | undefined
  readonly port: number | undefined
  readonly identityFiles: readonly string[] | undefined
  readonly identitiesOnly: boolean
  readonly identityAgent: string | undefined
  readonly certificateFiles: readonly string[] | undefined
  /** As it is written; undefined: none. */
  readonly proxyJump: string | undefined
  readonly knownHostsFiles: readonly string[] | undefined
  readonly hostKeyPolicy: HostKeyPolicy | undefined
  readonly hostKeyAlias: string | undefined
  readonly keepalive: { readonly intervalMs: number; readonly countMax: number } | undefined
  readonly options: SshOptions
  readonly asked: readonly Asked[]
}

export interface SettingsContext {
  /** What was asked for. */
  readonly name: string
  /** The user and port that the inventory or the command line gives, for tokens. */
  readonly user: string | undefined
  readonly port: number | undefined
  readonly localUser: string
  readonly workstation: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const policies: Readonly<Record<string, HostKeyPolicy>> = {
  yes: 'strict',
  true: 'strict',
  ask: 'strict',
  'accept-new': 'accept-new',
  no: 'off',
  false: 'off',
  off: 'off',
}

/** `own` is what drover read in the files itself: of all that depends on the name, since an answer serves many names. */
export const settingsOf = (answer: Answer, own: Evaluated, context: SettingsContext): SshSettings => {
  const { values, isCertain } = own
  const one = (keyword: string): string | undefined => answer.get(keyword)?.[0]
  const isSet = (keyword: string): boolean => values.has(keyword) || !isCertain
  const hostname = isCertain ? own.hostname : (one('hostname') ?? own.hostname)
  const ownUser = values.get('user')?.[0]?.args[0]
  // What ssh makes of tokens in it depends on its version.
  const user = isCertain && !hasTokens(ownUser) ? ownUser : one('user')
  const port = isSet('port') ? numberIn(one('port')) : undefined
  const hostKeyAlias = one('hostkeyalias')
  const tokens = tokensFor(context, { hostname, user, port, hostKeyAlias })
  const path = (text: string): string =>
    expandHome(expandTokens(expandEnvironment(text, context.env), tokens), context.home)

  const paths = (keyword: string): readonly string[] | undefined =>
    isSet(keyword) ? answer.get(keyword)?.map(unquoted).map(path) : undefined
  const identities = isCertain || !isDefaultKeys(answer.get('identityfile')) ? paths('identityfile') : undefined
  const hostFiles = (keyword: string, usual: readonly string[]): readonly string[] =>
    (isCertain ? values.get(keyword)?.[0]?.args.map(path) : one(keyword)?.split(' ')) ?? usual
  const knownHosts = [
    ...hostFiles('userknownhostsfile', [`${context.home}/.ssh/known_hosts`, `${context.home}/.ssh/known_hosts2`]),
    ...hostFiles('globalknownhostsfile', ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']),
  ].filter((file) => file !== 'none')
  const agent = (isCertain ? values.get('identityagent')?.[0]?.args[0] : undefined) ?? one('identityagent')
  const intervalMs = (numberIn(one('serveraliveinterval')) ?? 0) * 1000
  const asked = askedBeyond(own, answer)
  const policy = isSet('stricthostkeychecking') ? one('stricthostkeychecking')?.toLowerCase() : undefined

  return {
    hostname,
    user,
    port,
    identityFiles: identities?.filter((file) => file !== 'none'),
    identitiesOnly: /^(yes|true)$/i.test(one('identitiesonly') ?? ''),
    identityAgent: agentSocket(agent, context.env, path),
    certificateFiles: paths('certificatefile')?.filter((file) => file !== 'none'),
    proxyJump: one('proxyjump'),
    knownHostsFiles:
      isSet('userknownhostsfile') || isSet('globalknownhostsfile')
        ? knownHosts.length > 0
          ? knownHosts
          : ['/dev/null']
        : undefined,
    hostKeyPolicy: policy === undefined ? undefined : policies[policy],
    hostKeyAlias: hostKeyAlias === undefined ? undefined : expandTokens(hostKeyAlias, tokens).toLowerCase(),
    keepalive: intervalMs > 0 ? { intervalMs, countMax: numberIn(one('serveralivecountmax')) ?? 3 } : undefined,
    options: optionsFrom(answer, asked, context.name),
    asked,
  }
}

const optionsFrom = (answer: Answer, asked: readonly Asked[], destination: string): SshOptions => {
  const text = (keyword: string): string | undefined =>
    asked.some((one) => one.keyword === keyword) ? answer.get(keyword)?.[0] : undefined
  const fields = {
    proxyCommand: text('proxycommand'),
    gssapi: text('gssapiauthentication') === undefined ? undefined : true,
    pkcs11Provider: text('pkcs11provider'),
    securityKeyProvider: text('securitykeyprovider'),
    kexAlgorithms: text('kexalgorithms')?.split(','),
    hostKeyAlgorithms: text('hostkeyalgorithms')?.split(','),
    ciphers: text('ciphers')?.split(','),
    macs: text('macs')?.split(','),
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { destination, ...(Object.fromEntries(given) as Omit<SshOptions, 'destination'>) }
}

interface Found {
  readonly hostname: string
  readonly user: string | undefined
  readonly port: number | undefined
  readonly hostKeyAlias: string | undefined
}

const tokensFor = (context: SettingsContext, { hostname, user, port, hostKeyAlias }: Found): Tokens => {
  const { name, localUser, workstation, home } = context
  return {
    d: home,
    h: hostname,
    k: hostKeyAlias ?? name,
    L: workstation.replace(/\..*$/, ''),
    l: workstation,
    n: name,
    p: String(context.port ?? port ?? 22),
    r: context.user ?? user ?? localUser,
    u: localUser,
  }
}

/** Undefined: that of the environment. */
const agentSocket = (
  text: string | undefined,
  env: SettingsContext['env'],
  path: (text: string) => string,
): string | undefined => {
  if (text === undefined || text === 'SSH_AUTH_SOCK') return undefined
  if (text.toLowerCase() === 'none') return 'none'
  const [, variable] = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? []
  return variable === undefined ? path(text) : (env[variable] ?? 'none')
}

const defaultKey = /^~\/\.ssh\/id_(rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss|mldsa[a-z0-9_]*)$/

const isDefaultKeys = (files: readonly string[] | undefined): boolean =>
  files === undefined || (files.length > 1 && files.every((file) => defaultKey.test(file)))

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)

const hasTokens = (text: string | undefined): boolean => /[%$]/.test(text ?? '')

const unquoted = (text: string): string => /^"(.*)"$/.exec(text)?.[1] ?? text

/**
 * Whether ssh's answer about a host can be asked of another: what drover reads itself must come out as ssh has it.
 * A name of digits that is no address may be one to the C library.
 */
export const agrees = (answer: Answer, own: Evaluated, context: SettingsContext): boolean => {
  if (hasTokens(own.values.get('user')?.[0]?.args[0])) return false
  const settings = settingsOf(answer, own, context)
  const told = ['userknownhostsfile', 'globalknownhostsfile'].flatMap(
    (keyword) => answer.get(keyword)?.[0]?.split(' ') ?? [],
  )
  const files = told.filter((file) => file !== 'none').join(' ')
  return (
    answer.get('hostname')?.[0]?.toLowerCase() === settings.hostname &&
    (settings.knownHostsFiles === undefined || settings.knownHostsFiles.join(' ') === (files || '/dev/null'))
  )
}
