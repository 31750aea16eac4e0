/** The time, and a call at a time to come; returns how to take the call back. */
export interface Clock {
  readonly now: () => number
  readonly wake: (atMs: number, call: () => void) => () => void
}

export interface StallOptions {
  /** A silence longer than this is a stall. */
  readonly afterMs: number
  readonly clock: Clock
  /** After that time, and again whenever the silence has become twice as long. */
  readonly onStalled: (where: string, silentMs: number) => void
  /** The first sign of life after a stall. */
  readonly onMoving: (where: string, silentMs: number) => void
}

/** Knows what a host is waited for with, and since when it has said nothing. It tells, and never ends anything. */
export interface StallWatch {
  /** The host has come to this; `excusedMs` is the time it may take without a word. */
  at(where: string, excusedMs?: number): void
  /** A command is on its way to the host: until its first word, it is here that it is waited for. */
  opening(where: string): void
  heard(): void
  /** Nothing is expected of the host. */
  rest(): void
}

interface Place {
  readonly name: string
  readonly excusedMs: number
}

export const createStallWatch = ({ afterMs, clock, onStalled, onMoving }: StallOptions): StallWatch => {
  let below: Place = { name: 'start', excusedMs: 0 }
  let above: Place | null = null
  let heardAt = 0
  /** How long the silence was when it was told of last. */
  let toldMs: number | null = null
  let takeBack: (() => void) | null = null

  const place = (): Place => above ?? below
  const dueMs = (): number => (toldMs === null ? place().excusedMs + afterMs : toldMs * 2)

  const look = (): void => {
    takeBack = null
    const silentMs = clock.now() - heardAt
    if (silentMs >= dueMs()) {
      toldMs = silentMs
      onStalled(place().name, silentMs)
    }
    arm()
  }
  // Not set anew at each sign of life, which may come many times in a millisecond: a call that is early looks again.
  const arm = (): void => {
    takeBack ??= clock.wake(heardAt + dueMs(), look)
  }
  const disarm = (): void => {
    takeBack?.()
    takeBack = null
  }
  const alive = (): void => {
    const now = clock.now()
    const wasTold = toldMs !== null
    const silentMs = now - heardAt
    heardAt = now
    toldMs = null
    if (!wasTold) return
    // The next call was for the end of a longer silence.
    disarm()
    onMoving(place().name, silentMs)
  }
  const move = (change: () => void): void => {
    const isResting = takeBack === null
    if (isResting) heardAt = clock.now()
    alive()
    const wasDueMs = dueMs()
    change()
    if (dueMs() < wasDueMs) disarm()
    arm()
  }

  return {
    at: (name, excusedMs = 0) =>
      move(() => {
        below = { name, excusedMs }
        above = null
      }),
    opening: (name) =>
      move(() => {
        above = { name, excusedMs: 0 }
      }),
    heard: () => {
      if (takeBack === null) return
      move(() => {
        above = null
      })
    },
    rest: () => {
      if (takeBack !== null) alive()
      disarm()
      above = null
    },
  }
}

const longestMs = 2 ** 31 - 1

/** The machine's own. Whoever waits for nothing else is not kept from ending by it. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wake: (atMs, call) => {
    const timer = setTimeout(call, Math.min(Math.max(0, Math.ceil(atMs - performance.now())), longestMs))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Where nobody looks on. */
export const noWatch: StallWatch = { at: () => {}, opening: () => {}, heard: () => {}, rest: () => {} }
