import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { DroverError } from '../../../src/errors.ts'
import type { Way } from '../../../src/transport/pacing/connect-paced.ts'
import { connectPaced } from '../../../src/transport/pacing/connect-paced.ts'
import type { Pacer } from '../../../src/transport/pacing/pacer.ts'
import { createPacer } from '../../../src/transport/pacing/pacer.ts'
import type { SetbackKind } from '../../../src/transport/pacing/setback.ts'
import { Setback } from '../../../src/transport/pacing/setback.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => {
    // Whatever came of it, nothing is left that would keep the process.
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
})

const details = { code: 'handshake-failed', message: 'no', remedy: 'none' } as const
const setback = (kind: SetbackKind) => new Setback(kind, details)
const never = new Error('may not be reached')

/** Connects, each try ending with the next of `ends`: an error, or a connection by that name. */
const connect = (
  pacer: Pacer,
  ends: readonly (Error | string)[],
  over: { keys?: string[]; signal?: AbortSignal; lost?: Way['lost'] } = {},
) => {
  const begun = performance.now()
  const seen = { tries: 0, released: 0, waited: 0, at: [] as number[], retried: [] as string[] }
  const way: Way = {
    keys: over.keys ?? ['host 22', 'net'],
    release: () => {
      seen.released += 1
    },
    ...(over.lost !== undefined && { lost: over.lost }),
  }
  const ended = connectPaced(pacer, {
    find: async () => way,
    open: async () => {
      seen.at.push(performance.now() - begun)
      const end = ends[seen.tries] ?? ends.at(-1) ?? never
      seen.tries += 1
      if (end instanceof Error) throw end
      return end
    },
    signal: over.signal,
    onWaiting: () => {
      seen.waited += 1
    },
    onRetry: (error) => seen.retried.push((error as Setback).kind),
  }).then(
    (opened) => ({ opened, error: undefined, ms: performance.now() - begun }),
    (error: DroverError) => ({ opened: undefined, error, ms: performance.now() - begun }),
  )
  return { seen, ended }
}

const outcome = async ({ ended }: ReturnType<typeof connect>) => {
  await vi.runAllTimersAsync()
  return ended
}

test('the way is free: no timer was ever set, no turn of the event loop waited for, nothing said', async () => {
  const pacer = createPacer()
  const timers = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setImmediate')]
  const all = Array.from({ length: 200 }, (_, index) => connect(pacer, ['in'], { keys: [`host-${index} 22`, 'net'] }))
  // Promises only: fake timers are at a standstill.
  for (const { ended } of all) expect(await ended).toMatchObject({ opened: 'in', ms: 0 })
  for (const { seen } of all) expect(seen).toMatchObject({ tries: 1, released: 0, waited: 0 })
  for (const spy of timers) expect(spy).not.toHaveBeenCalled()
  for (const spy of timers) spy.mockRestore()
})

test('a word of being crowded is no failure; each pause is longer, and none the same for all', async () => {
  const one = connect(createPacer(), [...Array<Error>(4).fill(setback('crowded')), 'in'])
  expect(await outcome(one)).toMatchObject({ opened: 'in' })
  expect(one.seen).toMatchObject({ tries: 5, released: 4, retried: Array(4).fill('crowded') })
  expect(one.seen.waited).toBeGreaterThanOrEqual(4)
  const pauses = one.seen.at.slice(1).map((at, index) => at - (one.seen.at[index] ?? 0))
  for (const [index, least] of [125, 250, 500, 1_000].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(least)
    expect(pauses[index]).toBeLessThanOrEqual(2 * least + 2)
  }
})

test('a place that stays crowded ends as its last word, with how often it was tried', async () => {
  const one = connect(createPacer({ patienceMs: 60_000 }), [setback('crowded')])
  const { error, ms } = await outcome(one)
  expect(error).toMatchObject({
    code: 'handshake-failed',
    message: 'no',
    detail: expect.stringMatching(/^tried \d+ times in 6\d\.\d s$/),
  })
  expect([Math.floor(ms / 10_000), one.seen.released === one.seen.tries]).toEqual([6, true])
})

test.each<[SetbackKind, boolean, number, number]>([
  ['refused', false, 2, 500],
  ['refused', true, 5, 30_000],
  ['dropped', false, 3, 1_000],
  ['dropped', true, 15, 90_000],
  ['cut', false, 5, 30_000],
  ['cut', true, 15, 90_000],
  ['way-lost', false, 3, 1_000],
  ['exhausted', false, 15, 90_000],
  ['slow', false, 2, 500],
  ['slow', true, 3, 1_000],
  ['late', true, 3, 1_000],
])('%s, and there were signs of life: %s', async (kind, isAlive, tries, atMostMs) => {
  const pacer = createPacer()
  if (isAlive) await connect(pacer, ['in']).ended
  const one = connect(pacer, [setback(kind)])
  const { error, ms } = await outcome(one)
  expect(error).toMatchObject({ code: 'handshake-failed' })
  expect(one.seen.tries).toBeGreaterThanOrEqual(tries)
  if (tries <= 3) expect(one.seen.tries).toBe(tries)
  expect(ms).toBeLessThan(atMostMs)
  expect(ms).toBeGreaterThan(atMostMs / 6)
})

test.each([
  ['auth-failed', new DroverError({ ...details, code: 'auth-failed' })],
  ['host-key-changed', new DroverError({ ...details, code: 'host-key-changed' })],
  ['handshake-failed', new DroverError(details)],
  ['connect-timeout', new DroverError({ ...details, code: 'connect-timeout' })],
])('%s is the last word', async (_, error) => {
  const one = connect(createPacer(), [error])
  expect((await one.ended).error).toBe(error)
  expect(one.seen).toMatchObject({ tries: 1, released: 1 })
})

test('who does not answer in time where nobody ever got in is not tried again', async () => {
  const one = connect(createPacer(), [setback('late')])
  expect((await one.ended).error).toMatchObject({ kind: 'late' })
  expect(one.seen).toMatchObject({ tries: 1, released: 1, retried: [] })
})

test('turned away: one more try after a moment, one more after 15 s, then everyone who waits is told', async () => {
  const pacer = createPacer()
  const all = Array.from({ length: 20 }, () => connect(pacer, [setback('shut-out')]))
  const ends = await Promise.all(all.map(outcome))
  for (const { error, ms } of ends) {
    expect((error as Setback).kind).toBe('shut-out')
    expect(Math.floor(ms / 1_000)).toBe(16)
  }
  // Eight at first, and one after each pause.
  expect(all.reduce((sum, { seen }) => sum + seen.tries, 0)).toBe(10)
})

test('shut out and let in again: all go on', async () => {
  const pacer = createPacer()
  const all = Array.from({ length: 20 }, (_, index) => connect(pacer, index < 8 ? [setback('shut-out'), 'in'] : ['in']))
  for (const { opened } of await Promise.all(all.map(outcome))) expect(opened).toBe('in')
})

test('where the jump host broke it is the jump host that is spoken of', async () => {
  const lost = vi.fn(() => new Setback('way-lost', { ...details, message: 'the jump host' }))
  const breaks = [new DroverError({ ...details, code: 'connection-lost' }), setback('cut'), 'in']
  const one = connect(createPacer(), breaks, { lost })
  expect(await outcome(one)).toMatchObject({ opened: 'in' })
  expect(one.seen.retried).toEqual(['way-lost', 'way-lost'])
  const refused = new DroverError({ ...details, code: 'auth-failed' })
  expect((await outcome(connect(createPacer(), [refused], { lost }))).error).toBe(refused)
})

test('who hangs up on the login is asked once more; if it does so again, that has a meaning of its own', async () => {
  const hungUp = new Setback('hung-up', { ...details, code: 'connection-lost' }, { ...details, code: 'auth-failed' })
  const one = connect(createPacer(), [hungUp])
  expect((await outcome(one)).error).toMatchObject({
    code: 'auth-failed',
    detail: expect.stringMatching(/^tried 2 times/),
  })
  expect(one.seen).toMatchObject({ tries: 2, released: 2 })
  expect((await outcome(connect(createPacer({ patienceMs: 0 }), [hungUp]))).error).toBe(hungUp)
  expect(await outcome(connect(createPacer(), [hungUp, 'in']))).toMatchObject({ opened: 'in' })
})

test('interrupted while it waits, while it pauses, and before it begins', async () => {
  const pacer = createPacer()
  const held = await Promise.all(Array.from({ length: 8 }, () => pacer.admit(['host 22'])))
  const [waiting, pausing] = [new AbortController(), new AbortController()]
  const one = connect(pacer, ['in'], { keys: ['host 22'], signal: waiting.signal })
  const two = connect(pacer, [setback('crowded')], { keys: ['other 22'], signal: pausing.signal })
  await vi.advanceTimersByTimeAsync(10)
  expect([one.seen.waited, two.seen.tries]).toEqual([1, 1])
  waiting.abort()
  pausing.abort()
  for (const { ended } of [one, two, connect(pacer, ['in'], { signal: AbortSignal.abort() })]) {
    expect((await ended).error).toMatchObject({ code: 'cancelled' })
  }
  for (const permit of held) permit.failed(never)
})

test('interrupted while the place is held, it leaves no timer', async () => {
  const pacer = createPacer()
  const controller = new AbortController()
  const one = connect(pacer, [setback('shut-out')], { signal: controller.signal })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(vi.getTimerCount()).toBe(1)
  controller.abort()
  expect((await one.ended).error).toMatchObject({ code: 'cancelled' })
})
