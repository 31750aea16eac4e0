import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSilence } from '../../../src/transport/upload/silence.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a host that says nothing is given up, and one that does has its time anew', () => {
  const silence = createSilence(1000)
  vi.advanceTimersByTime(999)
  silence.broken(2000)
  vi.advanceTimersByTime(1999)
  expect(silence.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(silence.signal.reason).toMatchObject({ code: 'connection-lost', message: expect.stringContaining('for 2 s') })
})

test('what this machine waits for is no silence of the host, whatever the host says meanwhile', async () => {
  const silence = createSilence(1000)
  const work = Promise.withResolvers<string>()
  const during = silence.during(() => work.promise)
  vi.advanceTimersByTime(5000)
  silence.broken(1000)
  vi.advanceTimersByTime(5000)
  work.resolve('done')
  expect(await during).toBe('done')
  vi.advanceTimersByTime(999)
  expect(silence.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(silence.signal.aborted).toBe(true)
})

test('when it is over nothing fires any more, not even after work that ends later', async () => {
  const silence = createSilence(1000)
  const work = Promise.withResolvers<void>()
  const during = silence.during(() => work.promise)
  silence.end()
  work.reject(new Error('aborted'))
  await expect(during).rejects.toThrow('aborted')
  vi.advanceTimersByTime(10_000)
  expect(silence.signal.aborted).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})
