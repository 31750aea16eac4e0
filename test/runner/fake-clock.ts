import type { Clock } from '../../src/runner/stall.ts'

export interface FakeClock extends Clock {
  /** Lets the time pass, and makes what calls fall due on the way, each at its time. */
  pass(ms: number): void
  isIdle(): boolean
  /** Calls that are still to come. */
  calls(): number
}

export const fakeClock = (): FakeClock => {
  let now = 0
  const due = new Set<{ readonly atMs: number; readonly call: () => void }>()
  return {
    now: () => now,
    wake: (atMs, call) => {
      const entry = { atMs, call }
      due.add(entry)
      return () => void due.delete(entry)
    },
    pass: (ms) => {
      const end = now + ms
      for (;;) {
        const [next] = [...due].sort((one, other) => one.atMs - other.atMs)
        if (next === undefined || next.atMs > end) break
        due.delete(next)
        now = Math.max(now, next.atMs)
        next.call()
      }
      now = end
    },
    isIdle: () => due.size === 0,
    calls: () => due.size,
  }
}
