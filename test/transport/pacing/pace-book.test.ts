import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paceKeys } from '../../../src/transport/pacing/keys.ts'
import type { Ending, Start, Waiter } from '../../../src/transport/pacing/pace-book.ts'
import { PaceBook } from '../../../src/transport/pacing/pace-book.ts'
import { simulate } from './simulated-sshd.ts'

const atAddresses = (count: number): Waiter[] =>
  Array.from({ length: count }, (_, index) => ({
    keys: paceKeys({ address: `10.0.0.${index + 1}`, port: 22 }),
    place: index,
  }))

const atOneEndpoint = (count: number): Waiter[] =>
  Array.from({ length: count }, (_, index) => ({ keys: paceKeys({ address: '10.0.0.1', port: 22 }), place: index }))

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('sixty hosts', () => {
  const oneSshd = { sshdOf: () => 'one', loginMs: 100, pauseMs: 200 }

  test('at one endpoint begin eight at a time', () => {
    const course = simulate({ book: new PaceBook(), ...oneSshd, bears: () => 10 }, atOneEndpoint(60))
    expect(course.order).toHaveLength(60)
    expect(course.drops).toBeLessThanOrEqual(4)
  })

  test('at sixty addresses begin all at once', () => {
    const fleet = { book: new PaceBook<Waiter>(), sshdOf: String, bears: () => 1, loginMs: 100, pauseMs: 200 }
    expect(simulate(fleet, atAddresses(60))).toEqual({ order: numbers(60), drops: 0, mostAtOnce: 60, ms: 100 })
  })

  test.each([
    ['one endpoint', atOneEndpoint(60), 6],
    ['sixty addresses of one sshd', atAddresses(60), 58],
  ])('all get into %s that takes two logins at once, and waste little', (_, waiters, firstDrops) => {
    const course = simulate({ book: new PaceBook(), ...oneSshd, bears: () => 2 }, waiters)
    expect([...course.order].sort((a, b) => a - b)).toEqual(numbers(60))
    expect(course.drops).toBeLessThan(firstDrops + 20)
    // Thirty pairs of 100 ms are the least possible.
    expect(course.ms).toBeLessThan(6_000)
  })
})

test('a crowded corner slows nobody else', () => {
  const crowded = atAddresses(60)
  const others: Waiter[] = numbers(40).map((index) => ({
    keys: paceKeys({ address: `10.0.${index + 1}.1`, port: 22 }),
    place: 100 + index,
  }))
  const fleet = {
    book: new PaceBook<Waiter>(),
    sshdOf: (place: number) => (place < 100 ? 'crowded' : String(place)),
    bears: (sshd: string) => (sshd === 'crowded' ? 2 : 1),
    loginMs: 100,
    pauseMs: 200,
  }
  const { order } = simulate(fleet, [...crowded, ...others])
  expect(order.slice(0, 42).filter((place) => place >= 100)).toHaveLength(40)
  expect([fleet.book.limitOf('overall'), fleet.book.limitOf('net 10.0.0')]).toEqual([256, expect.any(Number)])
  expect(fleet.book.limitOf('net 10.0.0')).toBeLessThan(10)
})

test('one sick host, which drops every connection, slows none of its neighbours', () => {
  const book = new PaceBook<Waiter>()
  const [sick, ...rest] = atAddresses(60)
  for (let tries = 0; tries < 20; tries += 1) {
    book.ask(sick as Waiter)
    const now = tries * 5_000
    for (const [, start] of book.turn(now).admitted) book.end(start, 'dropped', now)
  }
  for (const waiter of rest) book.ask(waiter)
  expect(book.turn(96_000).admitted).toHaveLength(59)
})

test('of those who wait for the same place, the one who came first goes first, a retry included', () => {
  const book = new PaceBook<Waiter>()
  const waiters = atOneEndpoint(12)
  for (const waiter of waiters) book.ask(waiter)
  const first = book.turn(0).admitted
  expect(first.map(([{ place }]) => place)).toEqual(numbers(8))
  for (const [, start] of first.slice(0, 7)) book.end(start, 'dropped', 0)
  book.end((first[7] as readonly [Waiter, Start])[1], 'failed', 0)
  book.ask(waiters[3] as Waiter)
  expect(book.turn(0).admitted.map(([{ place }]) => place)).toEqual([3])
})

test('who waits for a full place does not hold up those behind who do not need it', () => {
  const book = new PaceBook<Waiter>()
  for (const waiter of atOneEndpoint(20)) book.ask(waiter)
  const other = { keys: paceKeys({ address: '10.0.0.2', port: 22 }), place: 99 }
  book.ask(other)
  expect(book.turn(0).admitted.map(([{ place }]) => place)).toEqual([...numbers(8), 99])
})

describe('an sshd that turns this machine away', () => {
  const begin = (book: PaceBook<Waiter>, now: number) => {
    for (const waiter of atOneEndpoint(4)) book.ask(waiter)
    return book.turn(now).admitted
  }
  const only = (admitted: readonly (readonly [Waiter, Start])[]): Start => {
    expect(admitted).toHaveLength(1)
    return (admitted[0] as readonly [Waiter, Start])[1]
  }
  const turnedAwayTwice = (): PaceBook<Waiter> => {
    const book = new PaceBook<Waiter>()
    for (const [, start] of begin(book, 0)) book.end(start, 'shut-out', 10)
    expect(begin(book, 20)).toEqual([])
    expect(book.wakesAt(20)).toBe(1_010)
    book.end(only(book.turn(1_010).admitted), 'shut-out', 1_020)
    expect(book.turn(1_020).admitted).toEqual([])
    expect(book.wakesAt(1_020)).toBe(16_020)
    return book
  }

  test('is left alone by all for a second, then for 15, and asked by one; when that one is let in, by all', () => {
    const book = turnedAwayTwice()
    book.end(only(book.turn(16_020).admitted), 'succeeded', 16_100)
    expect(book.turn(16_100).admitted).toHaveLength(2)
  })

  test('and again: then all who wait are told so, and nobody asks for two minutes', () => {
    const book = turnedAwayTwice()
    book.end(only(book.turn(16_020).admitted), 'shut-out', 16_030, 'why')
    expect(book.turn(16_030).refused.map(([, reason]) => reason)).toEqual(['why', 'why'])
    expect(begin(book, 100_000)).toEqual([])
    expect(begin(book, 140_000)).toHaveLength(1)
  })

  test('and takes two logins at once, in the same words: sixty addresses of it all get in without a pause of 15 s', () => {
    const fleet = { book: new PaceBook<Waiter>(), sshdOf: () => 'one', loginMs: 100, pauseMs: 200 }
    const course = simulate({ ...fleet, bears: () => 2, says: 'shut-out' }, atAddresses(60))
    expect(course.order).toHaveLength(60)
    expect(course.ms).toBeLessThan(8_000)
  })

  test('and each of fifty hosts does so: they wait beside one another, not one after the other', () => {
    const book = new PaceBook<Waiter>()
    const untilMs = 12_000
    const fleet = { book, sshdOf: String, loginMs: 100, pauseMs: 200, says: 'shut-out' } as const
    const course = simulate({ ...fleet, bears: (_, now) => (now < untilMs ? 0 : 1) }, atAddresses(50))
    expect(course.order).toHaveLength(50)
    expect(course.ms).toBeLessThan(25_000)
    expect(course.drops).toBeLessThan(50 * 6)
  })
})

describe('logins that take too long', () => {
  const behindJump = (count: number): Waiter[] =>
    numbers(count).map((index) => ({
      keys: paceKeys({ address: `10.0.${index}.1`, port: 22, via: '#1' }),
      place: index,
    }))
  const begin = (book: PaceBook<Waiter>, waiters: readonly Waiter[]): readonly Start[] => {
    for (const waiter of waiters) book.ask(waiter)
    return book.turn(0).admitted.map(([, start]) => start)
  }
  const endAll = (book: PaceBook<Waiter>, starts: readonly Start[], ending: Ending): void => {
    for (const start of starts) book.end(start, ending, 20_000)
  }

  test('where others behind the same jump host got in: all of them are hopeful, and half as many begin', () => {
    const book = new PaceBook<Waiter>()
    const waiters = behindJump(60)
    const starts = begin(book, waiters)
    endAll(book, starts.slice(0, 27), 'succeeded')
    for (const start of starts.slice(27)) {
      book.end(start, 'late', 20_000)
      expect(book.isAlive(start.keys, 20_000)).toBe(true)
    }
    expect([book.limitOf('via #1'), book.limitOf('overall')]).toEqual([16, 256])
  })

  test('where nobody ever got in: there is no hope, and nobody waits for it', () => {
    const book = new PaceBook<Waiter>()
    const starts = begin(book, behindJump(60))
    endAll(book, starts, 'late')
    for (const { keys } of starts) expect(book.isAlive(keys, 20_000)).toBe(false)
    expect(book.limitOf('via #1')).toBe(256)
  })

  test('where all were greeted and nobody got in: half as many begin, and no less than four', () => {
    const book = new PaceBook<Waiter>()
    const limits: (number | undefined)[] = []
    for (let turn = 0; turn < 6; turn += 1) {
      endAll(book, begin(book, behindJump(60)), 'slow')
      limits.push(book.limitOf('via #1'))
    }
    expect(limits).toEqual([30, 15, 7, 7, 7, 7])
  })

  test('two dead hosts among those that got in are dead, and slow nobody', () => {
    const book = new PaceBook<Waiter>()
    const starts = begin(book, atAddresses(60))
    endAll(book, starts.slice(2), 'succeeded')
    endAll(book, starts.slice(0, 2), 'late')
    expect(starts.slice(0, 2).map(({ keys }) => book.isAlive(keys, 20_000))).toEqual([false, false])
    expect(book.limitOf('net 10.0.0')).toBe(256)
  })

  test('at one endpoint, of eight that began together: four begin after them', () => {
    const book = new PaceBook<Waiter>()
    const [first, ...rest] = begin(book, atOneEndpoint(8)) as [Start, ...Start[]]
    endAll(book, [first], 'succeeded')
    endAll(book, rest, 'late')
    expect(book.limitOf('10.0.0.1 22')).toBe(3)
  })
})

test('signs of life: a login, a word of being crowded, or a crowded network in which somebody has logged in', () => {
  const book = new PaceBook<Waiter>()
  const [one, two, ...rest] = atAddresses(12) as [Waiter, Waiter, ...Waiter[]]
  let now = 0
  const run = (waiter: Waiter, ending: Ending): void => {
    now += 1_500
    book.ask(waiter)
    for (const [, start] of book.turn(now).admitted) book.end(start, ending, now)
  }
  const isAlive = (waiter: Waiter | undefined): boolean => book.isAlive(waiter?.keys ?? [], now)
  run(one, 'dropped')
  expect(isAlive(one)).toBe(false)
  run(one, 'crowded')
  expect(isAlive(one)).toBe(true)
  run(two, 'succeeded')
  expect([isAlive(two), isAlive(rest[0])]).toEqual([true, false])
  for (const waiter of rest.slice(0, 4)) run(waiter, 'dropped')
  expect(isAlive(rest[0])).toBe(true)
  now += 60_000
  expect(isAlive(rest[0])).toBe(false)
})

test('a place where even one at a time is dropped is left alone for longer and longer, up to two seconds', () => {
  const book = new PaceBook<Waiter>()
  let now = 0
  const pauses: number[] = []
  for (const waiter of atOneEndpoint(8)) {
    book.ask(waiter)
    const from = now
    now = book.wakesAt(now) ?? now
    pauses.push(now - from)
    const { admitted } = book.turn(now)
    expect(admitted).toHaveLength(1)
    for (const [, start] of admitted) book.end(start, 'dropped', now)
  }
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 2000, 2000])
})

describe('whatever happens', () => {
  const quiet: Ending[] = ['succeeded', 'failed', 'refused', 'exhausted']
  const endings: Ending[] = [...quiet, 'crowded', 'dropped', 'shut-out', 'slow', 'late']
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      host: fc.integer({ min: 0, max: 6 }),
      port: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ kind: fc.constant('end' as const), at: fc.nat(), ending: fc.constantFrom(...endings) }),
    fc.record({ kind: fc.constant('withdraw' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
  )

  test('nobody begins beyond a limit, and everybody is admitted, refused or has left in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const book = new PaceBook<Waiter>()
        const underWay: Start[] = []
        const count = { asked: 0, admitted: 0, refused: 0, left: 0 }
        let now = 0
        const turn = (): void => {
          const { admitted, refused } = book.turn(now)
          for (const [{ keys }, start] of admitted) {
            underWay.push(start)
            for (const key of [...keys, 'overall']) {
              const taken = underWay.filter((one) => key === 'overall' || one.keys.includes(key)).length
              expect(taken).toBeLessThanOrEqual(book.limitOf(key) ?? 0)
            }
          }
          count.admitted += admitted.length
          count.refused += refused.length
        }
        for (const one of steps) {
          if (one.kind === 'ask') {
            count.asked += 1
            book.ask({
              keys: paceKeys({ address: `10.0.${one.host % 2}.${one.host}`, port: one.port }),
              place: count.asked,
            })
          } else if (one.kind === 'end' && underWay.length > 0) {
            const [start] = underWay.splice(one.at % underWay.length, 1)
            if (start !== undefined) book.end(start, one.ending, now, 'reason')
          } else if (one.kind === 'withdraw' && book.waiting.length > 0) {
            book.withdraw(book.waiting[one.at % book.waiting.length] as Waiter)
            count.left += 1
          } else if (one.kind === 'wait') now += one.ms
          turn()
        }
        for (let rest = 0; book.waiting.length > 0; rest += 1) {
          expect(rest).toBeLessThan(1_000)
          for (const start of underWay.splice(0)) book.end(start, 'succeeded', now)
          now = book.wakesAt(now) ?? now
          turn()
        }
        expect(count.admitted + count.refused + count.left).toBe(count.asked)
      }),
    )
  })
})

test('networks are of 24 and 64 bits; behind a jump host it is the jump host that counts', () => {
  const network = (address: string) => paceKeys({ address, port: 22 })[1]
  expect(network('10.1.2.3')).toBe('net 10.1.2')
  expect(network('2001:DB8:0:1::5')).toBe('net 2001:db8:0:1')
  expect(network('fe80::1%eth0')).toBe('net fe80:0:0:0')
  expect(network('::1')).toBe('net 0:0:0:0')
  expect(network('name.example')).toBe(undefined)
  expect(paceKeys({ address: '10.1.2.3', port: 22, via: '#1' })).toEqual(['#1 > 10.1.2.3 22', 'via #1'])
})
