import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStallWatch } from '../../src/runner/stall.ts'
import { fakeClock } from './fake-clock.ts'

const watchOf = (afterMs = 30_000) => {
  const clock = fakeClock()
  const told: [at: number, what: string, where: string, silentMs: number][] = []
  const watch = createStallWatch({
    afterMs,
    clock,
    onStalled: (where, silentMs) => told.push([clock.now(), 'stalled', where, silentMs]),
    onMoving: (where, silentMs) => told.push([clock.now(), 'moving', where, silentMs]),
  })
  return { clock, told, watch }
}

describe('a host that says nothing', () => {
  test('is told of after the time given, and each time the silence has doubled', () => {
    const { clock, told, watch } = watchOf()
    watch.at('inspect section paths')
    clock.pass(250_000)
    expect(told).toEqual([
      [30_000, 'stalled', 'inspect section paths', 30_000],
      [60_000, 'stalled', 'inspect section paths', 60_000],
      [120_000, 'stalled', 'inspect section paths', 120_000],
      [240_000, 'stalled', 'inspect section paths', 240_000],
    ])
  })

  test('moves again with its next word, and the next silence counts from there', () => {
    const { clock, told, watch } = watchOf()
    watch.at('a')
    clock.pass(40_000)
    watch.heard()
    clock.pass(29_999)
    expect(told).toEqual([
      [30_000, 'stalled', 'a', 30_000],
      [40_000, 'moving', 'a', 40_000],
    ])
    clock.pass(1)
    expect(told.at(-1)).toEqual([70_000, 'stalled', 'a', 30_000])
  })

  test('moves again when it has come to the next place, and when all is over', () => {
    const { clock, told, watch } = watchOf()
    watch.at('a')
    clock.pass(31_000)
    watch.at('b')
    clock.pass(31_000)
    watch.rest()
    clock.pass(1_000_000)
    expect(told.map(([, what, where]) => `${what} ${where}`)).toEqual([
      'stalled a',
      'moving a',
      'stalled b',
      'moving b',
    ])
  })
})

test('one that speaks now and then is never told of', () => {
  const { clock, told, watch } = watchOf()
  watch.at('a')
  for (let times = 0; times < 50; times += 1) {
    clock.pass(29_000)
    watch.heard()
  }
  expect(told).toEqual([])
})

test('a declared wait is none until its own time is over', () => {
  const { clock, told, watch } = watchOf()
  watch.at('a wait', 90_000)
  clock.pass(119_999)
  expect(told).toEqual([])
  clock.pass(1)
  expect(told).toEqual([[120_000, 'stalled', 'a wait', 120_000]])
})

test('after a declared wait the next place has no excuse', () => {
  const { clock, told, watch } = watchOf()
  watch.at('a wait', 600_000)
  clock.pass(10_000)
  watch.at('b')
  clock.pass(30_000)
  expect(told).toEqual([[40_000, 'stalled', 'b', 30_000]])
})

test('a command that has not begun is waited for in the shell before it, and then where its host was', () => {
  const { clock, told, watch } = watchOf()
  watch.at('step one', 60_000)
  watch.opening('the login shell')
  clock.pass(30_000)
  watch.heard()
  clock.pass(90_000)
  expect(told.map(([, what, where]) => `${what} ${where}`)).toEqual([
    'stalled the login shell',
    'moving the login shell',
    'stalled step one',
  ])
})

test('a host at rest owes no word, and hearing from it then begins nothing', () => {
  const { clock, told, watch } = watchOf()
  watch.at('a')
  watch.rest()
  watch.heard()
  clock.pass(1_000_000)
  expect([told, clock.isIdle()]).toEqual([[], true])
})

test('silence before a rest does not count after it', () => {
  const { clock, told, watch } = watchOf()
  watch.at('a')
  clock.pass(20_000)
  watch.rest()
  clock.pass(20_000)
  watch.at('b')
  clock.pass(29_999)
  expect(told).toEqual([])
})

test('a sign of life sets no further call: one is on its way at any time', () => {
  const { clock, watch } = watchOf()
  watch.at('a')
  for (let times = 0; times < 1000; times += 1) watch.heard()
  expect(clock.calls()).toBe(1)
})

type Act = { readonly do: 'at' | 'opening' | 'heard' | 'rest' | 'pass'; readonly ms: number }

const acts = fc.array(
  fc.record({ do: fc.constantFrom('at', 'opening', 'heard', 'rest', 'pass', 'pass'), ms: fc.nat(200_000) }),
  { maxLength: 40 },
) as fc.Arbitrary<Act[]>

test('whatever happens: no stall without that silence, none goes untold, and each ends before another begins', () => {
  fc.assert(
    fc.property(acts, (all) => {
      const { clock, told, watch } = watchOf()
      let aliveAt: number | null = null
      let excused = 0
      let under = 0
      for (const { do: what, ms } of all) {
        const before = told.length
        if (what === 'pass') clock.pass(ms)
        else if (what === 'at') {
          under = ms % 3 === 0 ? ms : 0
          excused = under
          watch.at('x', under)
        } else if (what === 'opening') {
          excused = 0
          watch.opening('o')
        } else if (what === 'heard') {
          if (aliveAt !== null) excused = under
          watch.heard()
        } else watch.rest()
        const news = told.slice(before)
        if (what === 'pass') {
          expect(news.every(([, kind]) => kind === 'stalled')).toBe(true)
          for (const [at, , , silentMs] of news) {
            expect(silentMs).toBe(at - (aliveAt ?? Number.NaN))
            expect(silentMs).toBeGreaterThanOrEqual(30_000 + excused)
          }
          if (aliveAt !== null && clock.now() - aliveAt >= 30_000 + excused) expect(told.at(-1)?.[1]).toBe('stalled')
        } else {
          expect(news.length).toBeLessThanOrEqual(1)
          if (what === 'rest') aliveAt = null
          else if (what !== 'heard' || aliveAt !== null) aliveAt = clock.now()
        }
      }
      let isStalled = false
      for (const [, kind] of told) {
        if (kind === 'moving') expect(isStalled).toBe(true)
        isStalled = kind === 'stalled'
      }
    }),
  )
})
