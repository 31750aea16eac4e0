import { DroverError } from '../errors.ts'

/** Collects what is wrong with a request, so that one run of drover shows all of it. */
export interface Faults {
  /** The result, or undefined where it failed; a failure that is no DroverError is thrown on. */
  attempt<T>(read: () => T | Promise<T>): Promise<T | undefined>
  throwAny(): void
}

export const createFaults = (): Faults => {
  const errors: DroverError[] = []
  return {
    attempt: async (read) => {
      try {
        return await read()
      } catch (thrown) {
        if (!(thrown instanceof DroverError)) throw thrown
        errors.push(thrown)
        return undefined
      }
    },
    throwAny: () => {
      if (errors.length === 1) throw errors[0]
      if (errors.length > 1) throw new AggregateError(errors, 'The request is wrong in several ways.')
    },
  }
}
