import { PassThrough } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runChannel } from '../../src/transport/session/run-channel.ts'
import { lostError } from './fake-answers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

class FakeChannel extends PassThrough {
  readonly stderr = new PassThrough()
  isClosed = false

  close(): void {
    this.isClosed = true
  }

  override end(): this {
    return this
  }
}

const start = () => {
  const channel = new FakeChannel()
  const { signal } = new AbortController()
  const ended = runChannel(channel as unknown as ClientChannel, { maxBytes: 1_000, signal, lostError })
  const state = { isOver: false }
  ended.then(
    () => (state.isOver = true),
    () => (state.isOver = true),
  )
  return { channel, ended, state }
}

const turn = () => new Promise(setImmediate)

test('a channel that closes without an exit status is a lost connection', async () => {
  const { channel, ended } = start()
  channel.write('half')
  channel.emit('close')
  await expect(ended).rejects.toMatchObject({ code: 'connection-lost' })
})

test('after the exit status, two seconds of silence end the command although something holds its output', async () => {
  const { channel, ended } = start()
  channel.emit('exit', 0)
  vi.advanceTimersByTime(2_000)
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(channel.isClosed).toBe(true)
})

// Seen with sshd on a busy machine: the status came three seconds before the last megabyte, which was then missing.
test('output that is still on its way after the exit status arrives whole', async () => {
  const { channel, ended, state } = start()
  channel.emit('exit', 0)
  for (const [index, stream] of [channel, channel.stderr, channel].entries()) {
    vi.advanceTimersByTime(1_500)
    stream.push(String(index))
    await turn()
    expect(state.isOver).toBe(false)
  }
  channel.emit('close')
  expect(await ended).toEqual({ code: 0, signal: null, stdout: Buffer.from('02'), stderr: Buffer.from('1') })
})

test('a signal that kills the command is told, and no code', async () => {
  const { channel, ended } = start()
  channel.emit('exit', null, 'SIGKILL')
  channel.emit('close')
  expect(await ended).toMatchObject({ code: null, signal: 'SIGKILL' })
})
