import type { DroverError } from '../errors.ts'
import { abortError } from './cancelled.ts'
import { startDeadline } from './deadline.ts'

export interface StageLimits {
  readonly deadlineMs: number
  readonly timeoutError: () => DroverError
  readonly signal?: AbortSignal | undefined
}

export interface StageOutcome<T> {
  done(value: T): void
  failed(error: DroverError): void
}

/**
 * One stage of a connection. Ends with what `start` reports, at the deadline, or when the signal fires, whichever
 * comes first; `start` returns what to do about a stage that did not succeed.
 */
export const runStage = <T>(
  { deadlineMs, timeoutError, signal }: StageLimits,
  start: (outcome: StageOutcome<T>) => () => void,
): Promise<T> => {
  if (signal?.aborted) return Promise.reject(abortError(signal))
  return new Promise<T>((resolve, reject) => {
    let isSettled = false
    let abandon = (): void => undefined
    const settle = (finish: () => void): void => {
      if (isSettled) return
      isSettled = true
      clearDeadline()
      signal?.removeEventListener('abort', onAbort)
      finish()
    }
    const failed = (error: DroverError): void =>
      settle(() => {
        // Later, since `start` may fail before it has returned how to abandon it.
        queueMicrotask(() => abandon())
        reject(error)
      })
    const onAbort = (): void => signal && failed(abortError(signal))
    const clearDeadline = startDeadline(deadlineMs, () => failed(timeoutError()))
    signal?.addEventListener('abort', onAbort, { once: true })
    abandon = start({ done: (value) => settle(() => resolve(value)), failed })
  })
}
