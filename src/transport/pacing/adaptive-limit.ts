/** What was learnt of a crowded place may be over by then. */
const forgetMs = 30_000

/**
 * How many connections one place bears before they are logged in: additive increase, multiplicative decrease. A drop
 * also tells how many were too many, so the way back up is quick to just below that, and slow beyond it.
 */
export class AdaptiveLimit {
  readonly #start: number
  #limit: number
  /** So many have been borne, or may be; beyond it each step up is a trial. */
  #ceiling: number
  #inFlight = 0
  /** Begins anew with each decrease: of those that began before it, no further drop is news. */
  #round = 0
  #droppedAt = Number.NEGATIVE_INFINITY

  constructor(start: number) {
    this.#start = start
    this.#limit = start
    this.#ceiling = start
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.limit
  }

  /** It has lately shown that it bears less than it was trusted with. */
  isCrowded(now: number): boolean {
    return now - this.#droppedAt <= forgetMs
  }

  /** One more is under way. Returns the round it belongs to. */
  begin(): number {
    this.#inFlight += 1
    return this.#round
  }

  /** It is not counted any more. To be called after what is said of it. */
  end(): void {
    this.#inFlight -= 1
  }

  succeeded(now: number): void {
    // A limit that was not reached has not been put to the test.
    if (this.#inFlight < this.limit) return
    if (!this.isCrowded(now)) this.#ceiling = Math.max(this.#ceiling, this.#start)
    this.#limit += this.#limit + 1 <= this.#ceiling ? 1 : 1 / this.#limit
    this.#ceiling = Math.max(this.#ceiling, this.limit)
  }

  dropped(round: number, now: number): void {
    this.#droppedAt = now
    this.#ceiling = Math.max(1, Math.min(this.#ceiling, this.#inFlight - 1))
    if (round === this.#round) {
      this.#round += 1
      this.#limit = Math.min(this.#limit, this.#inFlight) / 2
    }
    this.#limit = Math.max(1, Math.min(this.#limit, this.#ceiling))
  }

  /** They all are slow together, so one of them tells for its whole round; none of them says how many would do. */
  slowed(round: number, now: number): void {
    this.#droppedAt = now
    if (round !== this.#round) return
    this.#round += 1
    const most = Math.min(this.#limit, this.#inFlight)
    this.#ceiling = Math.max(1, Math.min(this.#ceiling, most - 1))
    this.#limit = Math.max(1, most / 2)
  }

  /** One at a time, until that one has got through. */
  close(now: number): void {
    this.#droppedAt = now
    this.#round += 1
    this.#limit = 1
  }
}
