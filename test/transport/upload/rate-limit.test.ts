import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateLimit } from '../../../src/transport/upload/rate-limit.ts'

const never = new AbortController().signal

test('no portion takes long, and none is larger than a channel takes at once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 1e12 }), (bytesPerS) => {
      const { portion } = createRateLimit(bytesPerS)
      expect(portion).toBeLessThanOrEqual(64 * 1024)
      expect(portion / bytesPerS).toBeLessThanOrEqual(1.1)
    }),
  )
})

/** A sleep that is over at once, and a clock that it has moved on. */
test('all who share it together get so many bytes in a second', async () => {
  let nowMs = 0
  const limit = createRateLimit(10_000, {
    now: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms
    },
  })
  for (let taken = 0; taken < 100_000; taken += 1000) await limit.take(1000, never)
  expect(nowMs).toBeGreaterThanOrEqual(9_700)
  expect(nowMs).toBeLessThanOrEqual(10_000)
})

test('who was idle does not make up for it', async () => {
  let nowMs = 60_000
  const slept: number[] = []
  const limit = createRateLimit(10_000, { now: () => nowMs, sleep: async (ms) => void slept.push(ms) })
  await limit.take(1000, never)
  nowMs += 60_000
  await limit.take(1000, never)
  await limit.take(1000, never)
  await limit.take(1000, never)
  expect(slept).toEqual([100])
})

test('a wait can be broken off', async () => {
  const limit = createRateLimit(1000)
  const stop = new AbortController()
  await limit.take(100_000, stop.signal)
  const waiting = limit.take(1, stop.signal)
  stop.abort()
  await expect(waiting).rejects.toThrow()
})
