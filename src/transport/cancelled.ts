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
