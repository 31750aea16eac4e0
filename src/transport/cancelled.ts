import { DroverError } from '../errors.ts'

/** What an abort means to the caller: our own reasons pass, any other is an interruption. */
export const abortError = (signal: AbortSignal): DroverError =>
  signal.reason instanceof DroverError
    ? signal.reason
    : new DroverError({
        code: 'cancelled',
        message: 'The run was interrupted.',
        remedy: 'Start it again; drover looks at the host before it changes anything.',
        cause: signal.reason,
      })

/** The promise, left as soon as the signal fires. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return promise
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(abortError(signal))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort))
}
