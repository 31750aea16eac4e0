import pLimit from 'p-limit'
import type { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { Connection, ConnectOptions, StageDeadlines, Transport, TransportNotice } from '../connection.ts'
import { createHostKeyCheck } from '../host-keys/host-key-check.ts'
import { type HostKeyScanner, hostKeyKinds, noUsableHostKey, showHostKey } from '../host-keys/host-key-scan.ts'
import type { KnownHosts, KnownHostsCache } from '../host-keys/known-hosts.ts'
import type { Ask } from '../login/ask.ts'
import { createCredentialStore } from '../login/credential-store.ts'
import type { KeyCache, PassphraseProvider } from '../login/keys.ts'
import type { Login } from '../login/logins.ts'
import { createLogins } from '../login/logins.ts'
import type { PasswordGates } from '../login/password-gate.ts'
import { onceEach } from '../once-each.ts'
import { connectPaced } from '../pacing/connect-paced.ts'
import type { Pacer } from '../pacing/pacer.ts'
import { createPacer } from '../pacing/pacer.ts'
import { SessionConnection } from '../session/session-connection.ts'
import { createSessionLimits } from '../session/session-limit.ts'
import type { SocketWay } from './find-way.ts'
import { createWayFinder } from './find-way.ts'
import { hopByHop, JumpPool } from './jump-pool.ts'
import type { Resolver } from './resolve.ts'
import { lookupsAtOnce, systemResolver } from './resolve.ts'
import type { Keepalive, OpenedClient } from './ssh2-client.ts'
import { openClient } from './ssh2-client.ts'

/** What a transport is made with, whichever client it drives. */
export interface TransportOptions {
  readonly deadlines: StageDeadlines
  readonly passphrase: PassphraseProvider
  /** The login password of a host, where there is one; asked before any connection. */
  readonly passwordOf?: (host: Host) => Secret | undefined
  /** For one-time codes and passphrases; absent: there is nobody. */
  readonly ask?: Ask
  /** That of the user, for programs that are started here: ssh, and what it starts. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The path in SSH_AUTH_SOCK; undefined: no agent. */
  readonly agentSocket?: string | undefined
  readonly onNotice?: (notice: TransportNotice) => void
  /** What an ssh client is to read: `none`, or the path given by `-F`; undefined: the user's and the system's files. */
  readonly sshConfig?: string | undefined
  readonly keepalive?: Keepalive
  readonly knownHosts?: KnownHostsCache
  readonly keys?: KeyCache
  /** What hosts have said to passwords, where several transports share it. */
  readonly passwordGates?: PasswordGates
  readonly resolver?: Resolver
  /** Shared by all transports of a run, since what it paces is the same hosts. */
  readonly pacer?: Pacer
  /** The size of libuv's pool; unless told (bin/drover.js), it has four. */
  readonly threadCount?: number
}

interface Needs {
  readonly knownHosts: KnownHosts
  readonly login: Login
}

interface OpenedWay {
  readonly opened: OpenedClient
  /** To be called when the connection is gone. */
  readonly release: () => void
  readonly lost?: (() => DroverError | undefined) | undefined
  readonly endpoint: string
}

const defaultKeepalive: Keepalive = { intervalMs: 15_000, countMax: 3 }

export const createSsh2Transport = (options: TransportOptions): Transport & HostKeyScanner => {
  const { deadlines, keepalive = defaultKeepalive, resolver = systemResolver, threadCount = 4 } = options
  const lookups = pLimit(lookupsAtOnce(threadCount))
  const pacer = options.pacer ?? createPacer()
  const sessionsAt = createSessionLimits()
  const notify = onceEach(options.onNotice ?? (() => undefined))
  const store = createCredentialStore({ ...options, notify })
  const loginOf = createLogins(options)

  const pool = new JumpPool(hopByHop((hop, before, signal) => open(hop, before, { signal })))
  const findWay = createWayFinder({ deadlines, resolver, lookups, pool })

  const logIn = async (
    host: Host,
    way: SocketWay,
    { knownHosts, login }: Needs,
    { signal, onStage }: ConnectOptions,
  ): Promise<OpenedWay> => {
    const hostKey = createHostKeyCheck(host, knownHosts, (message) => notify({ host: host.name, message }))
    onStage?.('connect')
    const socket = await way.openSocket()
    const attempt = login.attempt()
    onStage?.('handshake')
    const opened = await openClient({
      host,
      socket,
      hostKey,
      attempt,
      deadlines,
      keepalive: host.keepalive ?? keepalive,
      signal,
      onHandshake: () => onStage?.('authenticate'),
    })
    login.remember(attempt)
    try {
      await hostKey.record()
    } catch (error) {
      opened.client.destroy()
      throw error
    }
    return { opened, release: way.release, lost: way.lost, endpoint: way.keys[0] ?? '' }
  }

  const open = async (host: Host, chain: readonly Host[], options: ConnectOptions): Promise<OpenedWay> => {
    const [knownHosts, credentials] = await Promise.all([store.knownHostsOf(host), store.credentialsOf(host)])
    const login = loginOf(host, credentials)
    const refusal = login.refusal()
    if (refusal !== undefined) throw refusal
    return connectPaced(pacer, {
      find: () => findWay(host, chain, options),
      open: (way) => logIn(host, way, { knownHosts, login }, options),
      signal: options.signal,
      onWaiting: () => options.onStage?.('waiting'),
      onRetry: options.onRetry,
    })
  }

  return {
    connect: async (host, options = {}): Promise<Connection> => {
      const { opened, release, lost, endpoint } = await open(host, host.jump, options)
      const { channelMs } = deadlines
      const sessions = sessionsAt(endpoint)
      return new SessionConnection({ ...opened, host, channelMs, sessions, wayLost: lost, onClose: release })
    },
    hostKeysOf: async (host, options = {}) => {
      const { signal } = options
      const shown: Buffer[] = []
      for (const kind of hostKeyKinds) {
        const key = await connectPaced(pacer, {
          find: () => findWay(host, host.jump, options),
          open: async (way) => {
            const socket = await way.openSocket()
            const blob = await showHostKey({ host, socket, kind, deadlineMs: deadlines.handshakeMs, signal })
            way.release()
            return blob
          },
          signal,
        })
        if (key !== null) shown.push(key)
      }
      if (shown.length === 0) throw noUsableHostKey(host)
      return shown
    },
    close: () => pool.close(),
    prepare: (hosts) => store.prepare(hosts),
  }
}
