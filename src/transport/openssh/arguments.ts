import { isIP } from 'node:net'
import type { Host, HostKeyPolicy } from '../../inventory/host.ts'
import type { StageDeadlines } from '../connection.ts'
import type { Keepalive } from '../ssh2/ssh2-client.ts'
import { quotePath } from './words.ts'

export interface MasterArguments {
  readonly host: Host
  /** `none`, or the path given by `-F`; undefined: the user's and the system's files. */
  readonly sshConfig?: string | undefined
  readonly controlPath: string
  readonly keepalive: Keepalive
  readonly deadlines: Pick<StageDeadlines, 'connectMs' | 'handshakeMs'>
  /** There is a password or a passphrase, which askpass gives. */
  readonly mayAsk: boolean
  /** Without one, an empty one would be tried where ssh may ask. */
  readonly hasPassword: boolean
  /** Only the keys that are named are offered, not what else ssh-agent holds. */
  readonly identitiesOnly: boolean
  /** Of one connection alone: where ssh writes a host key that it accepts as new. */
  readonly learnFile?: string | undefined
  /** The control socket of the last jump host. */
  readonly jumpPath?: string | undefined
}

/** The command line of one connection: an ssh process that runs nothing and passes on channels. */
export const masterArguments = (options: MasterArguments): string[] => {
  const { host, sshConfig, controlPath, jumpPath } = options
  return [
    ...(sshConfig === undefined ? [] : ['-F', sshConfig]),
    ...['-N', '-T', '-S', controlPath],
    ...['-l', host.user, '-p', String(host.port)],
    // Each adds to a list, so they are no part of the table below.
    ...listed('IdentityFile', host.identityFiles.slice(0, maxIdentities)),
    ...listed('CertificateFile', host.certificateFiles ?? []),
    ...Object.entries({
      ...fixed,
      ...reach(options),
      // The inventory's own address stays, whatever HostName there is for it.
      ...(host.sshOptions !== undefined && { HostName: host.address.replaceAll('%', '%%') }),
      ...hostKeys(host, options.learnFile),
      ...login(options),
      ...way(host, jumpPath),
    }).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    '--',
    host.sshOptions?.destination ?? host.address,
  ]
}

/** A jump host of ssh_config is among the host's own by now, unless the inventory has said that there is none. */
const way = ({ sshOptions }: Host, jumpPath: string | undefined): Record<string, string> => {
  if (jumpPath !== undefined) return { ProxyCommand: proxyCommand(jumpPath) }
  return sshOptions?.proxyCommand === undefined ? { ProxyJump: 'none' } : {}
}

/** What the user's configuration may say of these would make this process another thing than the one we watch. */
const fixed = {
  ControlMaster: 'yes',
  ControlPersist: 'no',
  ForkAfterAuthentication: 'no',
  RemoteCommand: 'none',
  PermitLocalCommand: 'no',
  ClearAllForwardings: 'yes',
  ForwardAgent: 'no',
  ForwardX11: 'no',
  Tunnel: 'no',
  EscapeChar: 'none',
  VisualHostKey: 'no',
  // Its lines tell how far it has come, and why it does not come further.
  LogLevel: 'DEBUG1',
}

/** Servers end the connection at six failures, and penalise the address for each. */
export const maxIdentities = 5

const listed = (name: string, paths: readonly string[]): string[] =>
  paths.flatMap((path) => ['-o', `${name}=${quotePath(path)}`])

const reach = ({ host, keepalive, deadlines, jumpPath }: MasterArguments) => ({
  ConnectTimeout: seconds(deadlines.connectMs + (leavesAddresses(host, jumpPath) ? 0 : deadlines.handshakeMs)),
  ConnectionAttempts: 1,
  ServerAliveInterval: seconds(keepalive.intervalMs),
  ServerAliveCountMax: keepalive.countMax,
})

/**
 * ssh counts its one timeout until the server's first words, and only by it goes on to a name's next address. Where there
 * is none, drover's own deadlines are enough.
 */
export const leavesAddresses = (host: Host, jumpPath: string | undefined): boolean =>
  jumpPath === undefined && host.sshOptions?.proxyCommand === undefined && isIP(host.address) === 0

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

const checking: Readonly<Record<HostKeyPolicy, string>> = { strict: 'yes', 'accept-new': 'accept-new', off: 'no' }

const hostKeys = (
  { hostKeyPolicy, hostKeyAlias, knownHostsFiles }: Host,
  learnFile: string | undefined,
): Record<string, string> => {
  const named = hostKeyPolicy === 'off' ? [] : knownHostsFiles
  // ssh writes into the first of them, without a lock and only if its folder is there; what it learns we write ourselves.
  const files = [...(learnFile === undefined ? [] : [learnFile]), ...named].map(quotePath)
  const isOurs = hostKeyPolicy === 'off' || named.length > 0
  const usual = isOurs ? [] : ['~/.ssh/known_hosts', '~/.ssh/known_hosts2']
  return {
    StrictHostKeyChecking: checking[hostKeyPolicy],
    UpdateHostKeys: 'no',
    HashKnownHosts: 'no',
    ...(hostKeyAlias !== undefined && { HostKeyAlias: hostKeyAlias }),
    ...(files.length > 0 && { UserKnownHostsFile: [...files, ...usual].join(' ') }),
    ...(isOurs && { GlobalKnownHostsFile: '/dev/null', KnownHostsCommand: 'none' }),
  }
}

const login = ({ host, mayAsk, hasPassword, identitiesOnly }: MasterArguments): Record<string, string> => ({
  BatchMode: mayAsk ? 'no' : 'yes',
  NumberOfPasswordPrompts: '1',
  ...(mayAsk && !hasPassword && { PasswordAuthentication: 'no' }),
  ...(identitiesOnly && { IdentitiesOnly: 'yes' }),
  ...(host.identityAgent !== undefined && {
    IdentityAgent: host.identityAgent.startsWith('/') ? quotePath(host.identityAgent) : host.identityAgent,
  }),
})

/** `%h` and `%p` are ssh's own. The quotes keep every shell from taking the brackets for a pattern. */
const proxyCommand = (jumpPath: string): string =>
  `ssh -F none -o LogLevel=DEBUG1 -o ControlMaster=no -o ProxyCommand=false -S ${jumpPath} -W '[%h]:%p' -- drover`
