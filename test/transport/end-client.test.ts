import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { endClient } from '../../src/transport/ssh2/end-client.ts'
import type { OpenedClient } from '../../src/transport/ssh2/ssh2-client.ts'

const opened = (end: (closed: AbortController) => void) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const closed = new AbortController()
  const client = { end: vi.fn(() => end(closed)) } as unknown as OpenedClient['client']
  return { client, socket: new PassThrough(), serverVersion: '', closed: closed.signal }
}

test('a server that answers the goodbye has ended it, and nothing is left to wait for', async () => {
  const one = opened((closed) => closed.abort())
  await endClient(one)
  expect([one.socket.destroyed, vi.getTimerCount()]).toEqual([false, 0])
  await endClient(one)
  expect(one.client.end).toHaveBeenCalledOnce()
})

test('a server that does not is left after two seconds, even where the socket tells of no end', async () => {
  const one = opened(() => undefined)
  const ending = endClient(one)
  await vi.advanceTimersByTimeAsync(1_999)
  expect(one.socket.destroyed).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await ending
  expect([one.socket.destroyed, one.closed.aborted]).toEqual([true, false])
})
