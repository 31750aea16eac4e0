import { abortError } from './cancelled.ts'

/**
 * How many commands run at once over one connection. sshd allows ten sessions by default and refuses more; where it
 * allows fewer, the first refusal teaches that.
 */
export class SessionLimit {
  #limit: number
  #active = 0
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** True if other sessions hold the place that was refused, so that waiting for one of them can help. */
  learnRefusal(): boolean {
    const others = this.#active - 1
    if (others > 0) this.#limit = Math.min(this.#limit, others)
    return others > 0
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

  release(): void {
    this.#active -= 1
    while (this.#active < this.#limit && this.#waiting.length > 0) this.#waiting.shift()?.()
  }
}
