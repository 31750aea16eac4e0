import type { PaceBook, Start, Waiter } from '../../../src/transport/pacing/pace-book.ts'

export interface Fleet {
  readonly book: PaceBook<Waiter>
  /** Which sshd a host's connections end up at, whatever its endpoint is called. */
  readonly sshdOf: (place: number) => string
  /** How many logins an sshd takes at once. */
  readonly bears: (sshd: string, now: number) => number
  /** How it turns away. Default: without a word. */
  readonly says?: 'dropped' | 'shut-out'
  readonly loginMs: number
  readonly pauseMs: number
}

export interface Course {
  readonly order: readonly number[]
  readonly drops: number
  readonly mostAtOnce: number
  readonly ms: number
}

/** All of them connect, and those that are dropped come again, until all are in or an hour has passed. Time is a number. */
export const simulate = (
  { book, sshdOf, bears, loginMs, pauseMs, says = 'dropped' }: Fleet,
  waiters: readonly Waiter[],
): Course => {
  const underWay: { waiter: Waiter; start: Start; until: number; isDropped: boolean }[] = []
  const paused: { waiter: Waiter; until: number }[] = []
  const order: number[] = []
  let [now, drops, mostAtOnce] = [0, 0, 0]
  for (const waiter of waiters) book.ask(waiter)
  while (order.length < waiters.length && now < 3_600_000) {
    for (const [waiter, start] of book.turn(now).admitted) {
      const sshd = sshdOf(waiter.place)
      const taken = underWay.filter((other) => !other.isDropped && sshdOf(other.waiter.place) === sshd).length
      const isDropped = taken >= bears(sshd, now)
      underWay.push({ waiter, start, until: now + (isDropped ? 1 : loginMs), isDropped })
    }
    mostAtOnce = Math.max(mostAtOnce, underWay.length)
    const next = [...underWay, ...paused].reduce(
      (least, { until }) => Math.min(least, until),
      book.wakesAt(now) ?? Infinity,
    )
    if (!Number.isFinite(next)) break
    now = next
    for (const one of underWay.filter(({ until }) => until <= now)) {
      underWay.splice(underWay.indexOf(one), 1)
      book.end(one.start, one.isDropped ? says : 'succeeded', now)
      if (one.isDropped) {
        drops += 1
        paused.push({ waiter: one.waiter, until: now + pauseMs })
      } else order.push(one.waiter.place)
    }
    for (const one of paused.filter(({ until }) => until <= now)) {
      paused.splice(paused.indexOf(one), 1)
      book.ask(one.waiter)
    }
  }
  return { order, drops, mostAtOnce, ms: now }
}
