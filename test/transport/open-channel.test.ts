import { EventEmitter } from 'node:events'
import type { Client } from 'ssh2'
import { expect, test } from 'vitest'
import { openChannel } from '../../src/transport/session/open-channel.ts'

const { signal } = new AbortController()
const options = { command: 'true', deadlineMs: 1_000, signal }

const clientThat = (exec: (callback: (error?: Error, channel?: unknown) => void) => void): Client =>
  ({ exec: (_: string, callback: () => void) => exec(callback) }) as unknown as Client

// A quick command's exit status can stand in the packet that opens its channel; a listener one turn later misses it.
test('the caller listens before the next event of the same packet', async () => {
  const channel = new EventEmitter()
  const client = clientThat((callback) => {
    callback(undefined, channel)
    channel.emit('exit', 7)
  })
  const attach = (opened: EventEmitter) => {
    const seen: number[] = []
    opened.on('exit', (code: number) => seen.push(code))
    return seen
  }
  expect(await openChannel(client, { ...options, attach })).toEqual([7])
})

test('a client that is closed throws at once, and that is a lost connection', async () => {
  const client = clientThat(() => {
    throw new Error('Not connected')
  })
  await expect(openChannel(client, { ...options, attach: () => 0 })).rejects.toMatchObject({ code: 'connection-lost' })
})

test('no answer in time is a lost connection, and a channel that opens after that is closed again', async () => {
  const late = Promise.withResolvers<(error: undefined, channel: unknown) => void>()
  const client = clientThat((callback) => late.resolve(callback))
  const opening = openChannel(client, { ...options, deadlineMs: 1, attach: () => 0 })
  await expect(opening).rejects.toMatchObject({ code: 'connection-lost' })
  const closed = Promise.withResolvers<void>()
  const stream = () => Object.assign(new EventEmitter(), { resume: () => undefined })
  ;(await late.promise)(undefined, Object.assign(stream(), { stderr: stream(), close: () => closed.resolve() }))
  await closed.promise
})
