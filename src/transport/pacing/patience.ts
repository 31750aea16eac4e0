import type { SetbackKind } from './setback.ts'

/** Longest wait for one host from its first setback on, its turns in the queue not counted. */
export const defaultPatienceMs = 75_000

const restartMs = 20_000
const firstPauseMs = 250
const longestPauseMs = 5_000

interface Bounds {
  readonly retries: number
  readonly ms: number
}

const forLong: Bounds = { retries: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY }
const forRestart: Bounds = { retries: Number.POSITIVE_INFINITY, ms: restartMs }
const times = (retries: number): Bounds => ({ retries, ms: Number.POSITIVE_INFINITY })

/**
 * How long it is worth trying. A place that has shown signs of life is crowded, or starts anew; one that never did is
 * most likely dead, and must not cost a minute.
 */
const bounds: Readonly<Record<SetbackKind, { readonly alive: Bounds; readonly unknown: Bounds }>> = {
  crowded: { alive: forLong, unknown: forLong },
  cut: { alive: forLong, unknown: forRestart },
  dropped: { alive: forLong, unknown: times(2) },
  refused: { alive: forRestart, unknown: times(1) },
  exhausted: { alive: forLong, unknown: forLong },
  // The pacer holds the place back, and tells all who wait when there is no hope.
  'shut-out': { alive: times(6), unknown: times(6) },
  'way-lost': { alive: times(2), unknown: times(2) },
  // By chance once; by refusal each time.
  'hung-up': { alive: times(1), unknown: times(1) },
  // Each of these has cost a whole deadline already.
  slow: { alive: times(2), unknown: times(1) },
  late: { alive: times(2), unknown: times(0) },
}

export interface Trial {
  readonly kind: SetbackKind
  /** Any login there has succeeded in this run, or the place has said that it is crowded. */
  readonly isAlive: boolean
  /** How often this kind has been met before, and how long all of it has taken so far. */
  readonly retries: number
  readonly spentMs: number
  readonly patienceMs: number
}

/** How long to pause before the next try; undefined: no more. `random` is in [0, 1): who fell together shall not rise together. */
export const pauseAfter = (
  { kind, isAlive, retries, spentMs, patienceMs }: Trial,
  random: number,
): number | undefined => {
  const { retries: most, ms } = bounds[kind][isAlive ? 'alive' : 'unknown']
  if (retries >= most || spentMs >= Math.min(ms, patienceMs)) return undefined
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(retries, 10)) * (0.5 + random / 2)
}
