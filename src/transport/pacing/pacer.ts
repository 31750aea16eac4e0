import { abortError } from '../cancelled.ts'
import type { Ending, Start, Waiter } from './pace-book.ts'
import { PaceBook } from './pace-book.ts'
import { defaultPatienceMs } from './patience.ts'
import { Setback } from './setback.ts'

/** Leave to connect. Held until the login is through or has failed, since sshd counts it for as long. */
interface Permit {
  succeeded(): void
  /** With what it failed: a Setback tells of crowding, anything else only frees the place. */
  failed(error: unknown): void
}

interface AdmitOptions {
  readonly signal?: AbortSignal | undefined
  /** From `arrive`; a retry that keeps its place is not sent to the end of the queue. Absent: the last. */
  readonly place?: number
  /** Called if it does not begin at once. */
  readonly onWaiting?: (() => void) | undefined
}

export interface Pacer {
  readonly patienceMs: number
  arrive(): number
  /** `keys` as `paceKeys` makes them, narrowest first. */
  admit(keys: readonly string[], options?: AdmitOptions): Promise<Permit>
  isAlive(keys: readonly string[]): boolean
}

export interface PacerOptions {
  /** How long one host is tried before it counts as unreachable. 0: once. */
  readonly patienceMs?: number
}

interface Waiting extends Waiter {
  admit(start: Start): void
  refuse(reason: unknown): void
}

const endings: Readonly<Record<Setback['kind'], Ending>> = {
  crowded: 'crowded',
  dropped: 'dropped',
  cut: 'dropped',
  refused: 'refused',
  'shut-out': 'shut-out',
  exhausted: 'exhausted',
  'way-lost': 'failed',
  slow: 'slow',
  late: 'late',
  'hung-up': 'failed',
}

/** One for all connections of a run, over whichever client they go. */
export const createPacer = ({ patienceMs = defaultPatienceMs }: PacerOptions = {}): Pacer => {
  const book = new PaceBook<Waiting>()
  let arrivals = 0
  let timer: NodeJS.Timeout | undefined

  const serve = (): void => {
    clearTimeout(timer)
    timer = undefined
    const now = performance.now()
    const { admitted, refused } = book.turn(now)
    for (const [waiter, reason] of refused) waiter.refuse(reason)
    for (const [waiter, start] of admitted) waiter.admit(start)
    const at = book.wakesAt(now)
    if (at !== undefined) timer = setTimeout(serve, Math.ceil(at - now))
  }

  const permitOf = (start: Start): Permit => {
    let isOver = false
    const end = (ending: Ending, reason?: unknown): void => {
      if (isOver) return
      isOver = true
      book.end(start, ending, performance.now(), reason)
      serve()
    }
    return {
      succeeded: () => end('succeeded'),
      failed: (error) => end(error instanceof Setback ? endings[error.kind] : 'failed', error),
    }
  }

  const arrive = (): number => {
    arrivals += 1
    return arrivals
  }

  return {
    patienceMs,
    arrive,
    isAlive: (keys) => book.isAlive(keys, performance.now()),
    admit: (keys, { signal, place = arrive(), onWaiting } = {}) => {
      if (signal?.aborted) return Promise.reject(abortError(signal))
      return new Promise((resolve, reject) => {
        let isSettled = false
        const settle = (finish: () => void): void => {
          isSettled = true
          signal?.removeEventListener('abort', onAbort)
          finish()
        }
        const waiting: Waiting = {
          keys,
          place,
          admit: (start) => settle(() => resolve(permitOf(start))),
          refuse: (reason) => settle(() => reject(reason)),
        }
        const onAbort = (): void => {
          book.withdraw(waiting)
          settle(() => signal && reject(abortError(signal)))
          serve()
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        book.ask(waiting)
        serve()
        if (!isSettled) onWaiting?.()
      })
    },
  }
}
