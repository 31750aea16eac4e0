import type { ErrorCode } from '../../errors.ts'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { orAborted } from '../cancelled.ts'
import { wayKey } from '../way-key.ts'
import { endClient } from './end-client.ts'
import type { OpenedClient } from './ssh2-client.ts'

/** Long enough for the next host of a rolling run to find the jump host still connected. */
const lingerMs = 30_000

/**
 * For so long an answer stands for all who ask: of hosts that come in turns of `--forks`, each turn would wait for a
 * dead jump host as long as the first did.
 */
const failureMs = 5_000

/** Nobody is there. Any other failure may be a hiccup, and is believed only when it comes twice in a row. */
const absentCodes: ReadonlySet<ErrorCode> = new Set(['resolve-failed', 'connect-failed', 'connect-timeout'])

/** Spoken refusals: asking again would only repeat these, and OpenSSH penalises each failed login. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'auth-failed',
  'host-key-unknown',
  'host-key-changed',
  'host-key-revoked',
])

/** Connects to the last host of the chain, through those before it. The signal fires when nobody wants it any more. */
export type ConnectJump = (chain: readonly Host[], signal: AbortSignal) => Promise<OpenedClient>

type OpenHop = (
  hop: Host,
  before: readonly Host[],
  signal: AbortSignal,
) => Promise<{ readonly opened: OpenedClient; readonly release: () => void }>

/** Opens the last hop over the ones before it, and gives their way back when its connection is gone. */
export const hopByHop =
  (open: OpenHop): ConnectJump =>
  async (chain, signal) => {
    const hop = chain.at(-1)
    if (hop === undefined) throw new Error('a chain of jump hosts is never empty')
    const { opened, release } = await open(hop, chain.slice(0, -1), signal)
    if (opened.closed.aborted) release()
    else opened.closed.addEventListener('abort', release, { once: true })
    return opened
  }

export interface JumpLease {
  readonly opened: OpenedClient
  release(): void
}

interface SharedJump {
  readonly opened: Promise<OpenedClient>
  readonly abandon: AbortController
  /** One that failed stays in the pool for a while, as the answer to everyone who asks again. */
  state: 'pending' | 'open' | 'failed'
  users: number
  linger: NodeJS.Timeout | undefined
}

/** One connection for each way to a jump host, shared by all that go through it. */
export class JumpPool {
  readonly #connect: ConnectJump
  readonly #shared = new Map<string, SharedJump>()
  /** Ways that have failed since they last stood. */
  readonly #hiccups = new Set<string>()

  constructor(connect: ConnectJump) {
    this.#connect = connect
  }

  async acquire(chain: readonly Host[], signal?: AbortSignal): Promise<JumpLease> {
    const key = wayKey(chain)
    const shared = this.#shared.get(key) ?? this.#open(key, chain)
    if (shared.state !== 'failed') clearTimeout(shared.linger)
    shared.users += 1
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      shared.users -= 1
      if (shared.users === 0) this.#leave(key, shared)
    }
    try {
      return { opened: await orAborted(shared.opened, signal), release }
    } catch (error) {
      release()
      throw error
    }
  }

  async close(): Promise<void> {
    const all = [...this.#shared]
    await Promise.all(all.map(([key, shared]) => this.#end(key, shared)))
  }

  #open(key: string, chain: readonly Host[]): SharedJump {
    const abandon = new AbortController()
    const opened = this.#connect(chain, abandon.signal)
    const shared: SharedJump = { opened, abandon, state: 'pending', users: 0, linger: undefined }
    this.#shared.set(key, shared)
    opened.then(
      ({ closed }) => {
        shared.state = 'open'
        this.#hiccups.delete(key)
        if (closed.aborted) this.#forget(key, shared)
        else closed.addEventListener('abort', () => this.#forget(key, shared), { once: true })
      },
      (error: unknown) => {
        const code = error instanceof DroverError ? error.code : 'internal'
        const standsMs = abandon.signal.aborted ? 0 : this.#standsMs(key, code)
        if (standsMs === 0) return this.#forget(key, shared)
        shared.state = 'failed'
        if (standsMs === Number.POSITIVE_INFINITY) return
        shared.linger = setTimeout(() => this.#forget(key, shared), standsMs)
        shared.linger.unref()
      },
    )
    return shared
  }

  #standsMs(key: string, code: ErrorCode): number {
    if (finalCodes.has(code)) return Number.POSITIVE_INFINITY
    const isFirst = !this.#hiccups.has(key)
    this.#hiccups.add(key)
    return isFirst && !absentCodes.has(code) ? 0 : failureMs
  }

  #leave(key: string, shared: SharedJump): void {
    if (this.#shared.get(key) !== shared || shared.state === 'failed') return
    if (shared.state === 'pending') return void this.#end(key, shared)
    shared.linger = setTimeout(() => void this.#end(key, shared), lingerMs)
    shared.linger.unref()
  }

  #forget(key: string, shared: SharedJump): void {
    clearTimeout(shared.linger)
    if (this.#shared.get(key) === shared) this.#shared.delete(key)
  }

  async #end(key: string, shared: SharedJump): Promise<void> {
    this.#forget(key, shared)
    shared.abandon.abort()
    await shared.opened.then(endClient, () => undefined)
  }
}
