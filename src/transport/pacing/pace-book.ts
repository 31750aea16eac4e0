import type { Start } from './blame.ts'
import { dropped, isCrowded, shutOut, slowed } from './blame.ts'
import { Gauge } from './gauge.ts'

export type { Start } from './blame.ts'

/** Somebody who wants to connect. `place` is the turn in the queue, which a retry keeps. */
export interface Waiter {
  readonly keys: readonly string[]
  readonly place: number
}

/**
 * `failed` says nothing about crowding. `dropped`: by the far side, before the login. `shut-out`: by word of the far
 * side, for a while. `exhausted`: for want of sockets on this machine. `slow`, `late`: it took too long, with and
 * without a greeting.
 */
export type Ending =
  | 'succeeded'
  | 'failed'
  | 'crowded'
  | 'dropped'
  | 'refused'
  | 'shut-out'
  | 'exhausted'
  | 'slow'
  | 'late'

export interface Turn<W extends Waiter> {
  readonly admitted: readonly (readonly [waiter: W, start: Start])[]
  readonly refused: readonly (readonly [waiter: W, reason: unknown])[]
}

const overall = 'overall'
/**
 * Who may begin to connect. A connection counts against all of its keys, narrowest first, and begins when all have
 * room. Those who wait are served in their order, and nobody waits for a place they do not need. Time is handed in.
 */
export class PaceBook<W extends Waiter> {
  readonly #gauges = new Map<string, Gauge>()
  #waiting: W[] = []

  get waiting(): readonly W[] {
    return this.#waiting
  }

  ask(waiter: W): void {
    const at = this.#waiting.findLastIndex(({ place }) => place <= waiter.place)
    this.#waiting.splice(at + 1, 0, waiter)
  }

  withdraw(waiter: W): void {
    const at = this.#waiting.indexOf(waiter)
    if (at >= 0) this.#waiting.splice(at, 1)
  }

  /** All who may begin now, and all who need not wait any longer. */
  turn(now: number): Turn<W> {
    const admitted: [W, Start][] = []
    const refused: [W, unknown][] = []
    const all = this.#gauge(overall)
    this.#waiting = this.#waiting.filter((waiter) => {
      const gauges = this.#gaugesOf(waiter.keys)
      const closed = gauges.find((gauge) => gauge.closed !== undefined && gauge.closed.until > now)?.closed
      if (closed !== undefined) return void refused.push([waiter, closed.reason])
      if (!all.limit.hasRoom || !gauges.every((gauge) => gauge.limit.hasRoom && gauge.heldUntil <= now)) return true
      const rounds = gauges.map((gauge) => gauge.limit.begin())
      return void admitted.push([waiter, { keys: waiter.keys, rounds, at: now }])
    })
    return { admitted, refused }
  }

  /** When the next hold ends for which somebody waits. */
  wakesAt(now: number): number | undefined {
    const ends = this.#waiting
      .flatMap(({ keys }) => [...keys, overall].map((key) => this.#gauges.get(key)?.heldUntil ?? now))
      .filter((until) => until > now)
    return ends.length === 0 ? undefined : ends.reduce((one, other) => Math.min(one, other))
  }

  /** Each start ends exactly once. */
  end(start: Start, ending: Ending, now: number, reason?: unknown): void {
    const gauges = this.#gaugesOf(start.keys)
    const [endpoint] = gauges
    if (endpoint === undefined) return
    if (ending === 'succeeded') for (const gauge of gauges) gauge.succeeded(start.keys[0] ?? '', now)
    else if (ending === 'exhausted') gauges.at(-1)?.dropped(start.rounds.at(-1) ?? 0, now)
    else if (ending === 'slow' || ending === 'late') slowed(start, gauges, { hasGreeted: ending === 'slow', now })
    else if (ending === 'dropped' || ending === 'crowded' || ending === 'shut-out') {
      endpoint.hasLife ||= ending === 'crowded'
      if (ending !== 'shut-out' || isCrowded(gauges, now)) dropped(start, gauges, now)
      else shutOut(start, gauges, now, reason)
    }
    for (const gauge of gauges) gauge.limit.end()
  }

  /** Whether a drop there is a sign of crowding: it has let somebody in, or a place around it is known to be crowded. */
  isAlive(keys: readonly string[], now: number): boolean {
    const [endpoint, ...wider] = this.#gaugesOf(keys)
    return endpoint?.hasLife === true || wider.some((gauge) => gauge.limit.isCrowded(now) && gauge.hasLife)
  }

  /** Undefined: nobody has come that way yet. */
  limitOf(key: string): number | undefined {
    return this.#gauges.get(key)?.limit.limit
  }

  #gaugesOf([own = '', ...wider]: readonly string[]): readonly Gauge[] {
    return [this.#gauge(own, true), ...[...wider, overall].map((key) => this.#gauge(key))]
  }

  #gauge(key: string, isEndpoint = false): Gauge {
    const known = this.#gauges.get(key)
    if (known !== undefined) return known
    const gauge = new Gauge(isEndpoint)
    this.#gauges.set(key, gauge)
    return gauge
  }
}
