import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startDeadline } from '../../src/transport/deadline.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
})

test.each([1, 499, 500, 1_700])('after %d ms, once', async (ms) => {
  const onLate = vi.fn()
  startDeadline(ms, onLate)
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(ms - 1)
  expect(onLate).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2)
  expect(onLate).toHaveBeenCalledOnce()
})

test.each([0, 700])('cleared after %d ms, never', async (ms) => {
  const onLate = vi.fn()
  const clear = startDeadline(1_000, onLate)
  await vi.advanceTimersByTimeAsync(ms)
  clear()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(onLate).not.toHaveBeenCalled()
})

test('a process that was held up reads what has arrived first, and has its time afterwards', async () => {
  vi.useRealTimers()
  const onLate = vi.fn()
  const clear = startDeadline(600, onLate)
  const until = performance.now() + 1_000
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(onLate).not.toHaveBeenCalled()
  clear()
  vi.useFakeTimers()
})
