import { AdaptiveLimit } from './adaptive-limit.ts'

/** Below OpenSSH's default for logins under way: from ten on it drops at random (MaxStartups 10:30:100). */
const endpointStart = 8
/** No bound in practice: --forks is. */
const widerStart = 256

/** Drops of fewer endpoints, or a smaller share of what came out lately, are some bad hosts and no bad place. */
export const leastTroubled = 3
const leastShare = 0.1
const troubleMs = 15_000
const latelyMs = 3_000

/**
 * How long a place is left alone that turned us away: a moment, since it may have been the crowd of others; then for as
 * long as OpenSSH shuts out at least. After that all who wait are told: a penalty may last ten minutes.
 */
const shutOutMs = [1_000, 15_000]
const closedMs = 120_000

/** One at a time was too much, too: below one there are only pauses. */
const firstHoldMs = 100
const longestHoldMs = 2_000

/** What is known of one key: an endpoint, or a wider place with many of them. */
export class Gauge {
  readonly limit: AdaptiveLimit
  /** A login there has succeeded, or it has said that it is crowded. */
  hasLife = false
  /** Nothing begins there before this. */
  heldUntil = Number.NEGATIVE_INFINITY
  /** Why nobody may try any more, and until when. */
  closed: { readonly reason: unknown; readonly until: number } | undefined
  readonly #troubled = new Map<string, number>()
  readonly #drops: number[] = []
  #strikes = 0
  /** How often it has turned us away since it last let us in, and when. */
  #refusals = 0
  #refusedAt = Number.NEGATIVE_INFINITY
  readonly #successes: number[] = []

  constructor(isEndpoint: boolean) {
    this.limit = new AdaptiveLimit(isEndpoint ? endpointStart : widerStart)
  }

  get troubled(): Iterable<string> {
    return this.#troubled.keys()
  }

  /** One of its endpoints has dropped a connection. */
  note(endpoint: string, now: number): void {
    this.#troubled.set(endpoint, now)
    note(this.#drops, now)
  }

  /** Whether so many of its endpoints drop so many connections just now that the place is to blame. */
  isTroubled(now: number): boolean {
    for (const [one, at] of this.#troubled) if (now - at > troubleMs) this.#troubled.delete(one)
    const drops = prune(this.#drops, now)
    const successes = prune(this.#successes, now)
    return this.#troubled.size >= leastTroubled && drops >= leastShare * (drops + successes)
  }

  /** Whether a login there has succeeded lately. */
  letsIn(now: number): boolean {
    return prune(this.#successes, now) > 0
  }

  dropped(round: number, now: number): void {
    const isAlone = this.limit.inFlight === 1
    this.limit.dropped(round, now)
    if (!isAlone) return
    this.hold(now + Math.min(longestHoldMs, firstHoldMs * 2 ** Math.min(this.#strikes, 10)))
    this.#strikes += 1
  }

  hold(until: number): void {
    this.heldUntil = Math.max(this.heldUntil, until)
  }

  succeeded(endpoint: string, now: number): void {
    this.hasLife = true
    this.#strikes = 0
    this.#refusals = 0
    this.forgive(endpoint)
    note(this.#successes, now)
    this.limit.succeeded(now)
  }

  /** `since`: of those that were under way together, the first to be told speaks for all. `isFinal`: for the third time. */
  shutOut(since: number, now: number, { reason, isFinal }: { reason: unknown; isFinal: boolean }): void {
    if (since <= this.#refusedAt) return
    this.#refusedAt = now
    this.limit.close(now)
    const ms = shutOutMs[this.#refusals] ?? (isFinal ? undefined : shutOutMs.at(-1))
    this.#refusals = Math.min(this.#refusals + 1, shutOutMs.length)
    if (ms === undefined) this.closed = { reason, until: now + closedMs }
    else this.hold(now + ms)
  }

  forgive(endpoint: string): void {
    this.#troubled.delete(endpoint)
  }
}

const note = (times: number[], now: number): void => {
  prune(times, now)
  times.push(now)
}

const prune = (times: number[], now: number): number => {
  const first = times.findIndex((at) => now - at <= latelyMs)
  times.splice(0, first < 0 ? times.length : first)
  return times.length
}
