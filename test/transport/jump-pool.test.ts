import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { DroverError } from '../../src/errors.ts'
import type { Host } from '../../src/inventory/host.ts'
import { JumpPool } from '../../src/transport/ssh2/jump-pool.ts'
import type { OpenedClient } from '../../src/transport/ssh2/ssh2-client.ts'
import { fakeHost } from './fake-host.ts'

interface Opening {
  readonly chain: readonly Host[]
  readonly signal: AbortSignal
  open(end?: (closed: AbortController) => void): AbortController
  fail(code: ErrorCode): void
}

const createPool = () => {
  const openings: Opening[] = []
  const pool = new JumpPool((chain, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<OpenedClient>()
    const open: Opening['open'] = (end = (closed) => closed.abort()) => {
      const closed = new AbortController()
      const client = { end: () => end(closed) } as unknown as OpenedClient['client']
      const socket = new PassThrough().once('close', () => closed.abort())
      resolve({ client, socket, serverVersion: '', closed: closed.signal })
      return closed
    }
    signal.addEventListener('abort', () => reject(signal.reason))
    openings.push({ chain, signal, open, fail: (code) => reject(new DroverError({ code, message: '', remedy: '' })) })
    return promise
  })
  return { pool, openings }
}

const gate = fakeHost({ name: 'gate' })
const settled = () => new Promise(setImmediate)

test('all who go the same way share one connection, whatever they call it; another user is another way', async () => {
  const { pool, openings } = createPool()
  const leases = [
    pool.acquire([gate]),
    pool.acquire([{ ...gate, name: 'alias' }]),
    pool.acquire([{ ...gate, user: 'x' }]),
  ]
  for (const opening of openings) opening.open()
  const [first, second, third] = await Promise.all(leases)
  expect(openings).toHaveLength(2)
  expect(first?.opened).toBe(second?.opened)
  expect(first?.opened).not.toBe(third?.opened)
  await pool.close()
})

test('one that broke is connected anew by the next', async () => {
  const { pool, openings } = createPool()
  const first = pool.acquire([gate])
  const closed = openings[0]?.open()
  await first
  closed?.abort()
  const second = pool.acquire([gate])
  openings[1]?.open()
  await second
  expect(openings).toHaveLength(2)
  await pool.close()
})

test('a jump host that is not there is not waited for by each turn of hosts anew; later it is tried again', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { pool, openings } = createPool()
  const waiting = [pool.acquire([gate]), pool.acquire([gate])]
  openings[0]?.fail('connect-timeout')
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'connect-timeout' })
  await vi.advanceTimersByTimeAsync(4_000)
  await expect(pool.acquire([gate])).rejects.toMatchObject({ code: 'connect-timeout' })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(openings).toHaveLength(1)
  const next = pool.acquire([gate])
  openings[1]?.open()
  await next
  await pool.close()
})

test('one that refused us is not asked again', async () => {
  const { pool, openings } = createPool()
  const first = pool.acquire([gate])
  openings[0]?.fail('auth-failed')
  await expect(first).rejects.toMatchObject({ code: 'auth-failed' })
  await expect(pool.acquire([gate])).rejects.toMatchObject({ code: 'auth-failed' })
  expect(openings).toHaveLength(1)
  await pool.close()
})

test('one waiter that is interrupted does not end it for the others; the last one does', async () => {
  const { pool, openings } = createPool()
  const [one, two] = [new AbortController(), new AbortController()]
  const waiting = [pool.acquire([gate], one.signal), pool.acquire([gate], two.signal)]
  one.abort()
  await expect(waiting[0]).rejects.toMatchObject({ code: 'cancelled' })
  expect(openings[0]?.signal.aborted).toBe(false)
  two.abort()
  await expect(waiting[1]).rejects.toMatchObject({ code: 'cancelled' })
  await settled()
  expect(openings[0]?.signal.aborted).toBe(true)
})

test('after its last user it lingers, and ends with the pool', async () => {
  const { pool, openings } = createPool()
  const waiting = pool.acquire([gate])
  const closed = openings[0]?.open()
  const lease = await waiting
  lease.release()
  lease.release()
  expect((await pool.acquire([gate])).opened).toBe(lease.opened)
  expect(closed?.signal.aborted).toBe(false)
  await pool.close()
  expect(closed?.signal.aborted).toBe(true)
})

test.each(['handshake-failed', 'connection-lost'] as const)(
  'a login that broke or took too long (%s) is tried again',
  async (code) => {
    const { pool, openings } = createPool()
    const first = pool.acquire([gate])
    openings[0]?.fail(code)
    await expect(first).rejects.toMatchObject({ code })
    const second = pool.acquire([gate])
    openings[1]?.fail(code)
    await expect(second).rejects.toMatchObject({ code })
    // Twice in a row is no hiccup.
    await expect(pool.acquire([gate])).rejects.toMatchObject({ code })
    expect(openings).toHaveLength(2)
    await pool.close()
  },
)

test('hundreds who lose it at once make one new connection', async () => {
  const { pool, openings } = createPool()
  const first = Array.from({ length: 300 }, () => pool.acquire([gate]))
  const closed = openings[0]?.open()
  const leases = await Promise.all(first)
  closed?.abort()
  for (const lease of leases) lease.release()
  const second = Array.from({ length: 300 }, () => pool.acquire([gate]))
  openings[1]?.open()
  expect(new Set((await Promise.all(second)).map(({ opened }) => opened)).size).toBe(1)
  expect(openings).toHaveLength(2)
  await pool.close()
})

test('one that does not answer the goodbye is cut off', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { pool, openings } = createPool()
  const waiting = pool.acquire([gate])
  openings[0]?.open(() => undefined)
  const { opened } = await waiting
  const closing = pool.close()
  await vi.advanceTimersByTimeAsync(1_999)
  expect(opened.socket.destroyed).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(opened.socket.destroyed).toBe(true)
  await closing
})
