import { abortError } from '../cancelled.ts'

// Two below the default MaxSessions: one that is just closing still counts on the server.
const maxSessions = 8

// sshd counts a closed session until its next turn, so a place that was refused may be free a moment later.
const closingMs = 200

/**
 * How many commands run at once over one connection. sshd allows ten sessions by default and refuses more; where it
 * allows fewer, the first refusal teaches that.
 */
export class SessionLimit {
  readonly #onLearnt: (limit: number) => void
  #limit: number
  #active = 0
  #endedAt = Number.NEGATIVE_INFINITY
  readonly #waiting: (() => void)[] = []

  /** `onLearnt` is told of a lower limit, for the connections to come. */
  constructor(limit: number, onLearnt: (limit: number) => void = () => undefined) {
    this.#limit = limit
    this.#onLearnt = onLearnt
  }

  acquire(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortError(signal))
    if (this.#active < this.#limit && this.#waiting.length === 0) {
      this.#active += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', leave)
        this.#active += 1
        resolve()
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1)
        reject(abortError(signal))
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(admit)
    })
  }

  /** The session of the place is over. */
  release(): void {
    this.#endedAt = performance.now()
    this.#free()
  }

  /**
   * The server gave no session for the place. `again`: ask once more in a moment, the place is kept. `wait`: there
   * are as many as it allows; the place is given back, acquire another. `never`: there is nothing to wait for.
   */
  refused(): 'again' | 'wait' | 'never' {
    if (performance.now() - this.#endedAt < closingMs) return 'again'
    const others = this.#active - 1
    if (others > 0 && others < this.#limit) {
      this.#limit = others
      this.#onLearnt(others)
    }
    this.#free()
    return others > 0 ? 'wait' : 'never'
  }

  #free(): void {
    this.#active -= 1
    while (this.#active < this.#limit && this.#waiting.length > 0) this.#waiting.shift()?.()
  }
}

/** A limit for each new connection to an endpoint, which begins with what the earlier ones there have learnt. */
export const createSessionLimits = (): ((endpoint: string) => SessionLimit) => {
  const learnt = new Map<string, number>()
  return (endpoint) =>
    new SessionLimit(learnt.get(endpoint) ?? maxSessions, (limit) => {
      learnt.set(endpoint, Math.min(limit, learnt.get(endpoint) ?? limit))
    })
}
