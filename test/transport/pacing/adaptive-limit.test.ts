import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AdaptiveLimit } from '../../../src/transport/pacing/adaptive-limit.ts'

const fill = (limit: AdaptiveLimit): number[] => {
  const rounds: number[] = []
  while (limit.hasRoom) rounds.push(limit.begin())
  return rounds
}

test('of eight that began together six are dropped: two are what it bears', () => {
  const limit = new AdaptiveLimit(8)
  for (const round of fill(limit).slice(2)) {
    limit.dropped(round, 0)
    limit.end()
  }
  expect([limit.limit, limit.inFlight]).toEqual([2, 2])
})

test('a single drop halves it once, and it soon is just below where it was', () => {
  const limit = new AdaptiveLimit(12)
  const rounds = fill(limit)
  limit.dropped(rounds[0] ?? 0, 0)
  limit.end()
  expect(limit.limit).toBe(6)
  const seen: number[] = []
  for (let index = 0; index < 13; index += 1) {
    limit.succeeded(1)
    limit.end()
    fill(limit)
    seen.push(limit.limit)
  }
  // Those that were under way first, then one step for each success, and each step beyond eleven takes as many successes.
  expect(seen.filter((value) => value < 11).length).toBeLessThan(11)
  expect(seen.at(-1)).toBe(11)
})

test('who is too slow halves it once for all that began together, however many of them are', () => {
  const limit = new AdaptiveLimit(32)
  for (const round of fill(limit)) {
    limit.slowed(round, 0)
    limit.end()
  }
  expect([limit.limit, limit.inFlight]).toEqual([16, 0])
})

test('it learns more only when it is used up', () => {
  const limit = new AdaptiveLimit(8)
  for (let index = 0; index < 50; index += 1) {
    limit.begin()
    limit.succeeded(0)
    limit.end()
  }
  expect(limit.limit).toBe(8)
  fill(limit)
  for (let index = 0; index < 9; index += 1) {
    limit.succeeded(0)
    limit.end()
    fill(limit)
  }
  expect(limit.limit).toBe(9)
})

test('after half a minute without a drop it goes up by one with each success', () => {
  const limit = new AdaptiveLimit(8)
  limit.close(0)
  for (let index = 0; index < 7; index += 1) {
    fill(limit)
    limit.succeeded(31_000)
    limit.end()
  }
  expect(limit.limit).toBe(8)
})

test('whatever happens, it is at least one, and lets nobody in beyond it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.constantFrom('begin', 'success', 'drop', 'slow', 'other')),
      (start, steps) => {
        const limit = new AdaptiveLimit(start)
        const rounds: number[] = []
        let now = 0
        for (const step of steps) {
          now += 1_000
          if (step === 'begin') {
            const before = limit.inFlight
            if (limit.hasRoom) rounds.push(limit.begin())
            expect(limit.inFlight).toBeLessThanOrEqual(Math.max(before, limit.limit))
            continue
          }
          const round = rounds.shift()
          if (round === undefined) continue
          if (step === 'success') limit.succeeded(now)
          else if (step === 'drop') limit.dropped(round, now)
          else if (step === 'slow') limit.slowed(round, now)
          limit.end()
          expect(limit.limit).toBeGreaterThanOrEqual(1)
          expect(limit.inFlight).toBe(rounds.length)
        }
      },
    ),
  )
})
