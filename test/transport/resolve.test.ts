import pLimit from 'p-limit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lookupsAtOnce, resolveAddress } from '../../src/transport/ssh2/resolve.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import { fakeHost } from './fake-host.ts'

/** Lookups one at a time, each held until the test answers it. */
const slowNames = () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lookups = pLimit(1)
  const asked: string[] = []
  const answers: ((addresses: string[]) => void)[] = []
  const resolver = (name: string): Promise<string[]> => {
    asked.push(name)
    return new Promise((resolve) => answers.push(resolve))
  }
  const resolve = (address: string, signal?: AbortSignal) =>
    resolveAddress(fakeHost({ address }), { resolver, lookups, deadlineMs: 1_000, signal })
  return { asked, answers, resolve }
}

test('a name whose lookup waits for its turn loses none of its time', async () => {
  const { asked, answers, resolve } = slowNames()
  const late = expect(resolve('one.invalid')).rejects.toMatchObject({ code: 'resolve-failed' })
  const second = resolve('two.invalid')
  await vi.advanceTimersByTimeAsync(5_000)
  await late
  // The first has been given up and still holds its thread.
  expect(asked).toEqual(['one.invalid'])
  answers[0]?.(['192.0.2.1'])
  await vi.advanceTimersByTimeAsync(900)
  answers[1]?.(['192.0.2.2'])
  expect(await second).toEqual(['192.0.2.2'])
})

test('its time begins with its turn', async () => {
  const { answers, resolve } = slowNames()
  const first = resolve('one.invalid')
  const second = expect(resolve('two.invalid')).rejects.toMatchObject({
    code: 'resolve-failed',
    message: expect.stringContaining('no answer within 1000 ms'),
  })
  await vi.advanceTimersByTimeAsync(500)
  answers[0]?.(['192.0.2.1'])
  expect(await first).toEqual(['192.0.2.1'])
  await vi.advanceTimersByTimeAsync(1_001)
  await second
})

test('interrupted while it waits, it ends at once and is not asked for', async () => {
  const { asked, answers, resolve } = slowNames()
  const first = resolve('one.invalid')
  const controller = new AbortController()
  const second = resolve('two.invalid', controller.signal)
  controller.abort()
  await expect(second).rejects.toMatchObject({ code: 'cancelled' })
  answers[0]?.(['192.0.2.1'])
  await first
  const third = resolve('three.invalid')
  await vi.advanceTimersByTimeAsync(0)
  answers[1]?.(['192.0.2.3'])
  expect(await third).toEqual(['192.0.2.3'])
  expect(asked).toEqual(['one.invalid', 'three.invalid'])
})

test('an address is not looked up', async () => {
  const { asked, resolve } = slowNames()
  expect(await resolve('192.0.2.7')).toEqual(['192.0.2.7'])
  expect(asked).toEqual([])
})

test.each([
  [1, 1],
  [4, 2],
  [7, 4],
  [64, 32],
  [0, 1],
])('of %i threads, %i look up names', (threadCount, count) => {
  expect(lookupsAtOnce(threadCount)).toBe(count)
})

test('a transport asks for no more names at a time than there are threads for', async () => {
  const asked: string[] = []
  const twoAsked = Promise.withResolvers<void>()
  const resolver = (name: string) => {
    if (asked.push(name) === 2) twoAsked.resolve()
    return new Promise<never>(() => undefined)
  }
  const deadlines = { resolveMs: 60_000, connectMs: 1, handshakeMs: 1, authMs: 1, channelMs: 1 }
  const transport = createSsh2Transport({ deadlines, passphrase: () => undefined, resolver, threadCount: 4 })
  const controller = new AbortController()
  const connecting = ['one', 'two', 'three'].map((name) =>
    transport.connect(fakeHost({ address: `${name}.invalid`, knownHostsFiles: ['/dev/null'] }), {
      signal: controller.signal,
    }),
  )
  await twoAsked.promise
  await new Promise(setImmediate)
  controller.abort()
  for (const one of connecting) await expect(one).rejects.toMatchObject({ code: 'cancelled' })
  expect(asked).toHaveLength(2)
})
