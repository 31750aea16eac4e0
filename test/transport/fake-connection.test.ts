import { expect, test } from 'vitest'
import { runScript } from '../../src/transport/script/run-script.ts'
import type { FakeConnection } from './fake-connection.ts'
import { always, answer, createFakeConnection, fails, hold } from './fake-connection.ts'
import { fakeHost } from './fake-host.ts'
import { createFakeTransport } from './fake-transport.ts'

const run = (fake: FakeConnection, verb: string, signal?: AbortSignal) =>
  runScript(fake.connection, {
    run: 'r1',
    verb,
    script: 'main() { :; }\nmain "$@" </dev/null\n',
    args: ['x'],
    become: null,
    deadlineMs: 1000,
    maxBytes: 1000,
    ...(signal && { signal }),
  })

test('answers come in the scripted order, or computed from the call', async () => {
  const fake = createFakeConnection({
    list: [answer('1'), answer('2')],
    echo: (call) => answer(call.args.join()),
    ping: always(answer('pong')),
    fail: fails(new Error('boom')),
  })
  await expect(run(fake, 'fail')).rejects.toThrow('boom')
  expect((await run(fake, 'list')).stdout.toString()).toBe('1')
  expect((await run(fake, 'list')).stdout.toString()).toBe('2')
  expect((await run(fake, 'echo')).stdout.toString()).toBe('x')
  await run(fake, 'ping')
  expect((await run(fake, 'ping')).stdout.toString()).toBe('pong')
})

test.fails('an unscripted verb fails the test even if its rejection is swallowed', async () => {
  const fake = createFakeConnection({})
  await run(fake, 'surprise').catch(() => undefined)
})

test.fails('a scripted answer that nobody asked for fails the test', () => {
  createFakeConnection({ never: answer('') })
})

test('a held exec answers when released, is cancelled by its signal, and is lost with the connection', async () => {
  const first = hold(answer('late'))
  const second = hold(answer(''))
  const third = hold(answer(''))
  const fake = createFakeConnection({ wait: [first, second, third] })
  const answered = run(fake, 'wait')
  await first.reached
  first.release()
  expect((await answered).stdout.toString()).toBe('late')

  const controller = new AbortController()
  const cancelled = run(fake, 'wait', controller.signal)
  await second.reached
  controller.abort()
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })

  const lost = run(fake, 'wait')
  await third.reached
  fake.drop()
  await expect(lost).rejects.toMatchObject({ code: 'connection-lost' })
})

test('a fake transport gives the connection, the error, or whatever it is told to wait for', async () => {
  const fake = createFakeConnection({ ping: answer('pong') })
  const later = Promise.withResolvers<FakeConnection>()
  const transport = createFakeTransport({ up: later.promise, down: new Error('no route') })
  const connecting = transport.connect(fakeHost({ name: 'up' }))
  later.resolve(fake)
  const connection = await connecting
  expect(connection.host.name).toBe('up')
  await expect(transport.connect(fakeHost({ name: 'down' }))).rejects.toThrow('no route')
  expect((await run({ ...fake, connection }, 'ping')).stdout.toString()).toBe('pong')
  expect(transport.connects).toEqual(['up', 'down'])
})
