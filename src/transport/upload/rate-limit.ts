import { setTimeout as sleep } from 'node:timers/promises'

/** Bytes a second that all who share it may send together. */
export interface RateLimit {
  /** As much as should be asked for at a time, so that nobody waits long behind another. */
  readonly portion: number
  /** Infinity: nobody is held back. */
  readonly bytesPerS: number
  /** Resolves when so many bytes may be sent; rejects when the signal fires. */
  take(bytes: number, signal: AbortSignal): Promise<void>
}

interface Clock {
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

const ownClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}

const largestPortion = 64 * 1024

export const noRateLimit: RateLimit = {
  portion: largestPortion,
  bytesPerS: Number.POSITIVE_INFINITY,
  take: async () => undefined,
}

/** Whoever was idle may make up for this long of it. */
const slackMs = 100

export const createRateLimit = (bytesPerS: number, clock: Clock = ownClock): RateLimit => {
  let freeAt = Number.NEGATIVE_INFINITY
  return {
    bytesPerS,
    portion: Math.max(1024, Math.min(largestPortion, Math.floor(bytesPerS / 10))),
    take: async (bytes, signal) => {
      const startAt = Math.max(freeAt, clock.now() - slackMs)
      freeAt = startAt + (bytes / bytesPerS) * 1000
      const waitMs = startAt - clock.now()
      if (waitMs > 0) await clock.sleep(waitMs, signal)
    },
  }
}
