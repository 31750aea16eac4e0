import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import type { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { abortError } from '../cancelled.ts'
import type { StageDeadlines } from '../connection.ts'
import { startDeadline } from '../deadline.ts'
import type { HostKeyCheck } from '../host-keys/host-key-check.ts'
import type { AuthAttempt } from '../login/auth-handler.ts'
import {
  authError,
  authTimeout,
  bannerTooLong,
  isPacketTooLong,
  loginHungUp,
  loginLost,
} from '../login/login-errors.ts'
import { promptText } from '../login/prompts.ts'
import { allowOffers, CannotSign } from '../login/public-key-offer.ts'
import type { SessionClient } from '../session/session-client.ts'
import { algorithmsFor } from './algorithms.ts'
import { gatherWrites } from './gather-writes.ts'
import type { Greeting } from './greeting.ts'
import { watchGreeting } from './greeting.ts'
import { handshakeError, handshakeTimeout } from './handshake-errors.ts'
import { keepCipherKeys } from './keep-cipher-keys.ts'

// Reasons of a server that says goodbye.
const protocolError = 2
const noMoreAuthMethods = 14
const illegalUserName = 15

/** A connection dead for interval x (count + 1) is given up. Below 15 s a slow link looks dead (mscdex/ssh2#474). */
export interface Keepalive {
  readonly intervalMs: number
  readonly countMax: number
}

export interface OpenedClient {
  readonly client: SessionClient
  /** What the client runs over. */
  readonly socket: Duplex
  readonly serverVersion: string
  /** Fires when the connection is gone, before ssh2 tells its pending callbacks. */
  readonly closed: AbortSignal
}

export interface ClientOptions {
  readonly host: Host
  readonly socket: Duplex
  readonly hostKey: HostKeyCheck
  readonly attempt: AuthAttempt
  readonly deadlines: Pick<StageDeadlines, 'handshakeMs' | 'authMs'>
  readonly keepalive: Keepalive
  readonly onHandshake?: () => void
  readonly signal?: AbortSignal | undefined
}

/** Key exchange and login over a socket that stands. The socket is the client's, and is destroyed if it fails. */
export const openClient = (options: ClientOptions): Promise<OpenedClient> => {
  const { host, socket, hostKey, attempt, deadlines, keepalive, signal, onHandshake } = options
  if (signal?.aborted) {
    socket.destroy()
    return Promise.reject(abortError(signal))
  }
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    const closed = new AbortController()
    let greeting: Greeting = { version: '', text: '' }
    let stage: 'handshake' | 'authenticate' | 'settled' = 'handshake'
    let agentTrouble: Error | undefined
    let banner = ''
    let offers: ReturnType<typeof allowOffers> | undefined
    const { handshakeMs, authMs } = deadlines
    const onLate = (): void => fail(handshakeTimeout(host, handshakeMs, greeting.version !== ''))
    let clearDeadline = startDeadline(handshakeMs, onLate)

    const settle = (finish: () => void): void => {
      if (stage === 'settled') return
      stage = 'settled'
      clearDeadline()
      // Whoever has told how it ended has told it before.
      attempt.end('lost')
      signal?.removeEventListener('abort', onAbort)
      finish()
    }
    const fail = (error: DroverError): void =>
      settle(() => {
        client.destroy()
        socket.destroy()
        reject(error)
      })
    const startAuthTimer = (): void => {
      clearDeadline()
      clearDeadline = startDeadline(authMs, () => fail(authTimeout(host, authMs, attempt)))
    }
    const onAbort = (): void => signal && fail(abortError(signal))
    signal?.addEventListener('abort', onAbort, { once: true })

    const broken = (cause?: ClientError): void => {
      if (hostKey.refusal !== undefined) fail(hostKey.refusal)
      else if (stage !== 'authenticate') fail(handshakeError(host, greeting, cause))
      else if (cause !== undefined && isRefusal(cause)) {
        attempt.end('refused')
        fail(authError(host, attempt, agentTrouble ?? cause))
      } else if (cause === undefined && offers?.hasSigned() === true) fail(loginHungUp(host, attempt, banner))
      else if (isPacketTooLong(cause)) fail(bannerTooLong(host, cause))
      else fail(loginLost(host, attempt, cause ?? agentTrouble))
    }

    // For the life of the client: ECONNRESET may still come after its end (mscdex/ssh2#902).
    client.on('error', (error: ClientError) => {
      // The agent failed for one key; ssh2 goes on with the next.
      if (error instanceof CannotSign) agentTrouble = error
      else broken(error)
    })
    client.on('close', () => {
      closed.abort()
      broken()
    })
    client.on('handshake', () => keepCipherKeys(client))
    client.once('handshake', () => {
      if (stage !== 'handshake') return
      stage = 'authenticate'
      onHandshake?.()
      startAuthTimer()
    })
    client.on('banner', (words) => {
      banner = words
    })
    client.on('change password', (words) => attempt.passwordExpired(promptText(words)))
    attempt.watch({
      onStop: () => fail(authError(host, attempt, undefined)),
      onPause: (isPaused) => {
        if (stage !== 'authenticate') return
        if (isPaused) clearDeadline()
        else startAuthTimer()
      },
    })
    client.once('ready', () => {
      attempt.end('in')
      settle(() => resolve({ client, socket, serverVersion: greeting.version, closed: closed.signal }))
    })

    gatherWrites(socket)
    client.connect({
      sock: socket,
      username: host.user,
      readyTimeout: 0,
      keepaliveInterval: keepalive.intervalMs,
      keepaliveCountMax: keepalive.countMax,
      algorithms: algorithmsFor(hostKey.knownTypes),
      hostVerifier: (blob: Buffer) => hostKey.verify(blob),
      authHandler: attempt.handler,
    })
    offers = allowOffers(client)
    // After connect: ssh2 has paused the socket by then, and this listener must not set it flowing.
    greeting = watchGreeting(socket)
  })
}

/** `code` is a number if the server said goodbye with a reason (RFC 4253, 11.1), a text if the socket broke. */
type ClientError = Error & { level?: string; code?: number | string }

/** Whether the server has answered no. A line that breaks during the login says nothing about the keys. */
const isRefusal = ({ level, code, message }: ClientError): boolean =>
  level === 'client-authentication' ||
  code === noMoreAuthMethods ||
  code === illegalUserName ||
  // OpenSSH gives it as a protocol error, like much else.
  (code === protocolError && message.includes('authentication failures'))
