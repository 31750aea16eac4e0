import { setTimeout as sleep } from 'node:timers/promises'
import { DroverError, type ErrorCode, toDroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import type { Connection } from '../transport/connection.ts'
import { emit, type Run } from './run.ts'
import { noWatch, type StallWatch } from './stall.ts'
import { stagePlace } from './watched.ts'

/** The way to one host, which is made anew when it breaks. */
export interface Link {
  /** The one in use now. Another one after each reconnect, so nobody keeps it. */
  readonly connection: Connection
  /** How often the transport had to try again until now. */
  readonly retries: number
  /** Resolves when the host is reached again; rejects when it is refused for good, or `limitMs` is over. */
  reconnect(why: DroverError, options?: ReconnectOptions): Promise<void>
  /**
   * Another connection in the place of this one, which is closed only then: so that a host which lets nobody in any more
   * can still be spoken to. Rejects as a reconnect does.
   */
  renew(): Promise<void>
  close(): Promise<void>
}

interface ReconnectOptions {
  /** From the first attempt to the last; default: the run's. */
  readonly limitMs?: number
  /** Default: the second Ctrl-C. */
  readonly signal?: AbortSignal
  /** Whether another attempt is in vain; default: everything but what an absent or overrun host does. */
  readonly isFinal?: (error: DroverError) => boolean
}

/** Longest pause between two attempts: a host that is back shall not be left alone for long. */
const longestPauseMs = 15_000

/** What a host does that is away, on its way up, or overrun. All else is its answer, and asking again changes nothing. */
const passing: readonly ErrorCode[] = [
  'resolve-failed',
  'connect-failed',
  'connect-timeout',
  'handshake-failed',
  'channel-failed',
  'connection-lost',
]

export const openLink = async (run: Run, host: Host, watch: StallWatch = noWatch): Promise<Link> => {
  let retries = 0
  const onRetry = (): void => {
    retries += 1
  }
  const connect = (signal: AbortSignal): Promise<Connection> =>
    run.transport
      .connect(host, { signal, onRetry, onStage: (stage) => watch.opening(stagePlace(stage)) })
      .finally(() => watch.rest())
  let connection = await connect(run.hardStop)
  const { backoffMs, reconnectMs } = run.deadlines
  /** `why` is null where nothing has gone wrong yet: then it is tried at once, and only what fails is told of. */
  const reach = async (
    why: DroverError | null,
    { limitMs = reconnectMs, signal = run.hardStop, isFinal = isRefusal }: ReconnectOptions = {},
  ): Promise<void> => {
    const started = performance.now()
    const limit = AbortSignal.timeout(Math.round(limitMs))
    const either = AbortSignal.any([signal, limit])
    let last = why
    for (let attempt = why === null ? 0 : 1; ; attempt += 1) {
      if (last !== null) emit(run, { type: 'host-reconnecting', host: host.name, attempt, why: last.message })
      try {
        if (last !== null) await sleep(pauseMs(backoffMs, attempt), undefined, { signal: either })
        connection = await connect(either)
        const ms = Math.round(performance.now() - started)
        if (last !== null) emit(run, { type: 'host-reconnected', host: host.name, attempt, ms })
        return
      } catch (thrown) {
        if (signal.aborted) throw cancelled()
        if (limit.aborted) throw givenUp(limitMs, { isRenewal: why === null, last })
        last = toDroverError(thrown)
        if (isFinal(last)) throw last
      }
    }
  }
  return {
    get connection() {
      return connection
    },
    get retries() {
      return retries
    },
    reconnect: async (why, options) => {
      await closed(connection)
      await reach(why, options)
    },
    renew: async () => {
      const before = connection
      await reach(null)
      await closed(before)
    },
    close: () => closed(connection),
  }
}

/** Half a second, then twice as long each time, spread so that a fleet does not come back all at once. */
const pauseMs = (firstMs: number, attempt: number): number =>
  Math.min(firstMs * 2 ** (attempt - 1), longestPauseMs) * (0.75 + Math.random() / 2)

const isRefusal = ({ code }: DroverError): boolean => !passing.includes(code)

/** What was found stands, whatever becomes of the connection. */
const closed = async (connection: Connection): Promise<void> => {
  try {
    await connection.close()
  } catch {
    // It is gone either way.
  }
}

const cancelled = (): DroverError =>
  new DroverError({
    code: 'cancelled',
    message: 'The run was interrupted while the host was out of reach.',
    remedy: 'Run again to finish the work.',
  })

const givenUp = (limitMs: number, { isRenewal, last }: { isRenewal: boolean; last: DroverError | null }): DroverError =>
  new DroverError({
    code: 'connection-lost',
    message: `${isRenewal ? 'No new connection to the host was had' : 'The connection broke, and the host was not reached again'} within ${Math.round(limitMs / 1000)} s${last === null ? '.' : `: ${last.message}`}`,
    remedy: 'See what became of the host and of the network; then run again.',
    ...(last?.detail !== undefined && { detail: last.detail }),
    ...(last !== null && { cause: last }),
  })
