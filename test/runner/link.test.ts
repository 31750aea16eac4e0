import { expect, test } from 'vitest'
import { DroverError, type ErrorCode } from '../../src/errors.ts'
import { openLink } from '../../src/runner/link.ts'
import type { Run } from '../../src/runner/run.ts'
import { noWatch } from '../../src/runner/stall.ts'
import { createFakeConnection, lostError } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { aRun, deadlines, host1, only, tasksOf } from './world.ts'

const error = (code: ErrorCode): DroverError => new DroverError({ code, message: `${code}.`, remedy: 'r' })
type Connects = Parameters<typeof createFakeTransport>[0][string]

const open = async (connects: Connects, more: Partial<Run> = {}) => {
  const transport = createFakeTransport({ 'host-1': connects })
  const run = aRun(tasksOf(), transport, more)
  return { link: await openLink(run, host1, noWatch), run, transport }
}

test('a lost connection is closed, and another one takes its place', async () => {
  const [first, second] = [createFakeConnection({}), createFakeConnection({})]
  const { link, run } = await open([first, second])
  const before = link.connection
  await link.reconnect(lostError())
  expect(link.connection).not.toBe(before)
  expect([first.isClosed, second.isClosed]).toEqual([true, false])
  expect(only(run.events, 'host-reconnecting')).toMatchObject([{ attempt: 1, why: 'The connection broke.' }])
  expect(only(run.events, 'host-reconnected')).toMatchObject([{ attempt: 1 }])
  await link.close()
  expect(second.isClosed).toBe(true)
})

test('it is tried until the host is there, and each time is told why', async () => {
  const away: ErrorCode[] = [
    'connect-failed',
    'connect-timeout',
    'handshake-failed',
    'resolve-failed',
    'connection-lost',
  ]
  const { link, run, transport } = await open([createFakeConnection({}), ...away.map(error), createFakeConnection({})])
  await link.reconnect(lostError())
  expect(transport.connects.length).toBe(7)
  expect(only(run.events, 'host-reconnecting').map(({ why }) => why)).toEqual([
    'The connection broke.',
    ...away.map((code) => `${code}.`),
  ])
  expect(only(run.events, 'host-reconnected')).toMatchObject([{ attempt: 6 }])
})

test.each<ErrorCode>(['auth-failed', 'host-key-changed', 'host-key-unknown', 'host-key-revoked', 'internal'])(
  '%s is an answer, and final',
  async (code) => {
    const { link, transport } = await open([createFakeConnection({}), error(code)])
    await expect(link.reconnect(lostError())).rejects.toMatchObject({ code })
    expect(transport.connects.length).toBe(2)
  },
)

test('unless whoever asks knows better, as of a host that is on its way up', async () => {
  const { link } = await open([createFakeConnection({}), error('auth-failed'), createFakeConnection({})])
  await link.reconnect(lostError(), { isFinal: ({ code }) => code !== 'auth-failed' })
})

test('a host that stays away is given up, with what was seen last', async () => {
  const { link } = await open([createFakeConnection({}), error('connect-failed')], {
    deadlines: { ...deadlines, reconnectMs: 40 },
  })
  await expect(link.reconnect(lostError())).rejects.toMatchObject({
    code: 'connection-lost',
    message: expect.stringMatching(/not reached again within 0 s: connect-failed\./),
  })
})

test('so is one whose connect never ends', async () => {
  const { link } = await open([createFakeConnection({}), new Promise<never>(() => undefined)])
  await expect(link.reconnect(lostError(), { limitMs: 30.4 })).rejects.toMatchObject({ code: 'connection-lost' })
})

test('the second Ctrl-C ends it', async () => {
  const hard = new AbortController()
  const { link } = await open([createFakeConnection({}), new Promise<never>(() => undefined)], {
    hardStop: hard.signal,
  })
  const reconnecting = link.reconnect(lostError())
  hard.abort()
  await expect(reconnecting).rejects.toMatchObject({ code: 'cancelled' })
})

test('a new connection is open before the old one is closed', async () => {
  const [first, second] = [createFakeConnection({}), createFakeConnection({})]
  const opened = Promise.withResolvers<typeof second>()
  const { link, run } = await open([first, opened.promise])
  const renewing = link.renew()
  expect(first.isClosed).toBe(false)
  opened.resolve(second)
  await renewing
  expect([first.isClosed, second.isClosed]).toEqual([true, false])
  expect(link.connection).not.toBe(first.connection)
  // Nothing went wrong, so nothing is told.
  expect(run.events).toEqual([])
})

test('a new connection is tried for until it is there, and told of as often as it failed', async () => {
  const tries = [error('connect-failed'), error('handshake-failed')]
  const { link, run, transport } = await open([createFakeConnection({}), ...tries, createFakeConnection({})])
  await link.renew()
  expect(transport.connects.length).toBe(4)
  expect(only(run.events, 'host-reconnecting').map(({ attempt, why }) => [attempt, why])).toEqual([
    [1, 'connect-failed.'],
    [2, 'handshake-failed.'],
  ])
  expect(only(run.events, 'host-reconnected')).toMatchObject([{ attempt: 2 }])
})

test.each<[string, Connects, ErrorCode, RegExp]>([
  ['is refused for good', [error('auth-failed')], 'auth-failed', /^auth-failed\.$/],
  [
    'is not to be had',
    [error('connect-failed')],
    'connection-lost',
    /^No new connection .* within 0 s: connect-failed/,
  ],
  ['never ends', [new Promise<never>(() => undefined)], 'connection-lost', /^No new connection .* within 0 s\.$/],
])('where a new connection %s, the old one stands', async (_, further, code, message) => {
  const first = createFakeConnection({})
  const { link } = await open([first, ...(further as readonly DroverError[])], {
    deadlines: { ...deadlines, reconnectMs: 40 },
  })
  const before = link.connection
  await expect(link.renew()).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  expect([link.connection === before, first.isClosed]).toEqual([true, false])
})
