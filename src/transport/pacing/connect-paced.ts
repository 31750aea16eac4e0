import { DroverError } from '../../errors.ts'
import { abortError } from '../cancelled.ts'
import type { Pacer } from './pacer.ts'
import { pauseAfter } from './patience.ts'
import { Setback } from './setback.ts'

/** How a host is reached, found before its turn: an address, or a jump host that is connected. */
export interface Way {
  readonly keys: readonly string[]
  /** What to say instead if it was not the host that ended the connection. */
  lost?(): Setback | undefined
  /** Called once, if the connection over it did not come about. */
  release(): void
}

export interface PacedConnect<W extends Way, T> {
  readonly find: () => Promise<W>
  /** The whole of it, from the socket to the login. */
  readonly open: (way: W) => Promise<T>
  readonly signal?: AbortSignal | undefined
  readonly onWaiting?: (() => void) | undefined
  readonly onRetry?: ((error: DroverError) => void) | undefined
}

/** Connects when it is its turn, and again after a setback, for as long as there is hope. */
export const connectPaced = async <W extends Way, T>(pacer: Pacer, connect: PacedConnect<W, T>): Promise<T> => {
  const { signal, onWaiting } = connect
  const place = pacer.arrive()
  const met = new Map<string, number>()
  let spentMs = 0

  /** What came of one try: a connection, or how long to pause before the next. */
  const attempt = async (way: W): Promise<{ opened: T } | { pauseMs: number }> => {
    const permit = await pacer.admit(way.keys, { signal, place, onWaiting })
    const began = performance.now()
    try {
      const opened = await connect.open(way)
      permit.succeeded()
      return { opened }
    } catch (thrown) {
      const error = isBreak(thrown) ? (way.lost?.() ?? thrown) : thrown
      permit.failed(error)
      if (!(error instanceof Setback)) throw error
      spentMs += performance.now() - began
      const retries = met.get(error.kind) ?? 0
      const isAlive = pacer.isAlive(way.keys)
      const trial = { kind: error.kind, isAlive, retries, spentMs, patienceMs: pacer.patienceMs }
      const pauseMs = pauseAfter(trial, Math.random())
      if (pauseMs === undefined)
        throw withTries(
          error,
          [...met.values()].reduce((sum, count) => sum + count, 1),
          spentMs,
        )
      met.set(error.kind, retries + 1)
      spentMs += pauseMs
      connect.onRetry?.(error)
      return { pauseMs }
    }
  }

  for (;;) {
    const way = await connect.find()
    const outcome = await attempt(way).catch((error: unknown) => {
      way.release()
      throw error
    })
    if ('opened' in outcome) return outcome.opened
    way.release()
    onWaiting?.()
    await pause(outcome.pauseMs, signal)
  }
}

/** Not a word of the far side, and no interruption: it may be the way that broke. */
const isBreak = (thrown: unknown): boolean =>
  thrown instanceof Setback || (thrown instanceof DroverError && thrown.code === 'connection-lost')

const withTries = (error: Setback, tries: number, spentMs: number): Setback => {
  if (tries === 1) return error
  const line = `tried ${tries} times in ${(spentMs / 1000).toFixed(1)} s`
  const { code, message, remedy, detail: said } = error.ifAgain ?? error
  const detail = said === undefined ? line : `${said}\n${line}`
  return new Setback(error.kind, { code, message, remedy, detail, cause: error.cause })
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  if (signal?.aborted) return Promise.reject(abortError(signal))
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      if (signal !== undefined) reject(abortError(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
