import type { Duplex } from 'node:stream'
import pLimit from 'p-limit'
import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import type { Secret } from '../secret.ts'
import { createAuthAttempt } from './auth-handler.ts'
import type { Connection, ConnectOptions, StageDeadlines, Transport, TransportNotice } from './connection.ts'
import { createCredentialStore } from './credential-store.ts'
import { forward } from './forward.ts'
import { createHostKeyCheck } from './host-key-check.ts'
import { JumpPool } from './jump-pool.ts'
import type { KeyCache, PassphraseProvider } from './keys.ts'
import type { KnownHostsCache } from './known-hosts.ts'
import type { Resolver } from './resolve.ts'
import { lookupsAtOnce, resolveAddress, systemResolver } from './resolve.ts'
import type { Keepalive, OpenedClient } from './ssh2-client.ts'
import { openClient } from './ssh2-client.ts'
import { Ssh2Connection } from './ssh2-connection.ts'
import { connectTcp } from './tcp.ts'

/** What a transport is made with, whichever client it drives. */
export interface TransportOptions {
  readonly deadlines: StageDeadlines
  readonly passphrase: PassphraseProvider
  /** The login password of a host, where there is one; asked before any connection. */
  readonly passwordOf?: (host: Host) => Secret | undefined
  /** The path in SSH_AUTH_SOCK; undefined: no agent. */
  readonly agentSocket?: string | undefined
  readonly onNotice?: (notice: TransportNotice) => void
  readonly keepalive?: Keepalive
  readonly knownHosts?: KnownHostsCache
  readonly keys?: KeyCache
  readonly resolver?: Resolver
  /** The size of libuv's pool; unless told (bin/drover.js), it has four. */
  readonly threadCount?: number
}

const defaultKeepalive: Keepalive = { intervalMs: 15_000, countMax: 3 }

export const createSsh2Transport = (options: TransportOptions): Transport => {
  const { deadlines, keepalive = defaultKeepalive, resolver = systemResolver, threadCount = 4 } = options
  const lookups = pLimit(lookupsAtOnce(threadCount))
  const notify = onceEach(options.onNotice ?? (() => undefined))
  const store = createCredentialStore({ ...options, notify })

  /** A socket to the host, and what to do when it is no longer needed. */
  const openSocket = async (
    host: Host,
    chain: readonly Host[],
    { signal, onStage }: ConnectOptions,
  ): Promise<[Duplex, () => void]> => {
    const jump = chain.at(-1)
    if (jump === undefined) {
      onStage?.('resolve')
      const addresses = await resolveAddress(host, { resolver, lookups, deadlineMs: deadlines.resolveMs, signal })
      onStage?.('connect')
      return [await connectTcp(host, addresses, deadlines.connectMs, signal), () => undefined]
    }
    onStage?.('connect')
    const { opened, release } = await pool.acquire(chain, signal).catch((error: unknown) => {
      throw throughJump(jump, error)
    })
    try {
      return [await forward(opened.client, { jump, host, deadlineMs: deadlines.connectMs, signal }), release]
    } catch (error) {
      release()
      throw error
    }
  }

  const open = async (
    host: Host,
    chain: readonly Host[],
    options: ConnectOptions,
  ): Promise<[OpenedClient, () => void]> => {
    const [knownHosts, credentials] = await Promise.all([store.knownHostsOf(host), store.credentialsOf(host)])
    const hostKey = createHostKeyCheck(host, knownHosts, (message) => notify({ host: host.name, message }))
    const [socket, release] = await openSocket(host, chain, options)
    try {
      const attempt = createAuthAttempt(credentials)
      options.onStage?.('handshake')
      const { signal, onStage } = options
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
      try {
        await hostKey.record()
      } catch (error) {
        opened.client.destroy()
        throw error
      }
      return [opened, release]
    } catch (error) {
      release()
      throw error
    }
  }

  const pool = new JumpPool(async (chain, signal) => {
    const jump = chain.at(-1)
    if (jump === undefined) throw new Error('a chain of jump hosts is never empty')
    const [opened, release] = await open(jump, chain.slice(0, -1), { signal })
    if (opened.closed.aborted) release()
    else opened.closed.addEventListener('abort', release, { once: true })
    return opened
  })

  return {
    connect: async (host, options = {}): Promise<Connection> => {
      const [opened, onClose] = await open(host, host.jump, options)
      return new Ssh2Connection({ ...opened, host, channelMs: deadlines.channelMs, onClose })
    },
    close: () => pool.close(),
    prepare: (hosts) => store.prepare(hosts),
  }
}

const throughJump = (jump: Host, error: unknown): unknown =>
  !(error instanceof DroverError) || error.code === 'cancelled'
    ? error
    : new DroverError({
        code: error.code,
        message: `By way of jump host ${jump.name}: ${error.message}`,
        remedy: error.remedy,
        ...(error.detail !== undefined && { detail: error.detail }),
        cause: error,
      })

const onceEach = (tell: (notice: TransportNotice) => void): ((notice: TransportNotice) => void) => {
  const told = new Set<string>()
  return (notice) => {
    const key = JSON.stringify([notice.host, notice.message])
    if (!told.has(key)) tell(notice)
    told.add(key)
  }
}
