import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSessionLimits, SessionLimit } from '../../src/transport/session/session-limit.ts'

const never = new AbortController().signal

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const acquireAll = async (limit: SessionLimit, count: number): Promise<() => number> => {
  let admitted = 0
  for (let index = 0; index < count; index += 1) void limit.acquire(never).then(() => (admitted += 1))
  await Promise.resolve()
  return () => admitted
}

test('what one connection learnt, the next to the same endpoint begins with', async () => {
  const limitAt = createSessionLimits()
  const [first, other] = [limitAt('host 22'), limitAt('host 22')]
  await acquireAll(first, 3)
  expect(first.refused()).toBe('wait')
  await acquireAll(other, 5)
  expect(other.refused()).toBe('wait')
  const admitted = [limitAt('host 22'), limitAt('other 22')].map((limit) => acquireAll(limit, 20))
  expect((await Promise.all(admitted)).map((count) => count())).toEqual([2, 8])
})

test('those beyond the limit wait for a release, in their order', async () => {
  const limit = new SessionLimit(2)
  const admitted = await acquireAll(limit, 4)
  expect(admitted()).toBe(2)
  limit.release()
  await Promise.resolve()
  expect(admitted()).toBe(3)
})

test('a refusal while others run teaches the limit', async () => {
  const limit = new SessionLimit(8)
  const admitted = await acquireAll(limit, 8)
  expect([1, 2, 3, 4, 5].map(() => limit.refused())).toEqual(Array(5).fill('wait'))
  const later = await acquireAll(limit, 5)
  expect([admitted(), later()]).toEqual([8, 0])
  limit.release()
  await Promise.resolve()
  expect(later()).toBe(1)
})

test('a refusal just after the end of a session teaches nothing: the server may still count that one', async () => {
  const limit = new SessionLimit(2)
  await acquireAll(limit, 2)
  limit.release()
  await limit.acquire(never)
  expect(limit.refused()).toBe('again')
  vi.advanceTimersByTime(300)
  expect(limit.refused()).toBe('wait')
})

test('a refusal with nothing running is final', async () => {
  const limit = new SessionLimit(8)
  await limit.acquire(never)
  expect(limit.refused()).toBe('never')
})

test('who is interrupted while waiting leaves the queue', async () => {
  const limit = new SessionLimit(1)
  await limit.acquire(never)
  const controller = new AbortController()
  const waiting = limit.acquire(controller.signal)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  limit.release()
  await limit.acquire(never)
  await expect(limit.acquire(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' })
})
