import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { AuthContext, Connection } from 'ssh2'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import { createAuthAttempt } from '../../src/transport/auth-handler.ts'
import { openClient } from '../../src/transport/ssh2-client.ts'
import { fakeHost } from './fake-host.ts'
import { relayTo } from './loopback-servers.ts'

// Not by ssh2, some of whose ed25519 keys it cannot read itself.
const makeKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'sec1', format: 'pem' }).toString()
const hostKey = { knownTypes: [], verify: () => true, refusal: undefined, record: async () => undefined }

interface Login {
  readonly context: AuthContext
  readonly client: Connection
  cut(): void
}

/** Logs in with two keys at a server that does at each offer what the test says. */
const logIn = async (onOffer: (login: Login) => void, authMs = 60_000): Promise<DroverError> => {
  const server = new ssh2.Server({ hostKeys: [makeKey()] }, (client) => {
    client.on('error', () => undefined)
    client.on('authentication', (context) => onOffer({ context, client, cut: () => relay.cut() }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relay = await relayTo((server.address() as AddressInfo).port)
  onTestFinished(async () => {
    await relay.stop()
    server.close()
  })
  const socket = connect(relay.port, '127.0.0.1')
  await once(socket, 'connect')
  const attempt = createAuthAttempt(
    ['first', 'second'].map((label) => ({
      label,
      method: { type: 'publickey', username: 'root', key: makeKey() },
    })),
  )
  const deadlines = { handshakeMs: 60_000, authMs }
  const keepalive = { intervalMs: 0, countMax: 0 }
  return openClient({ host: fakeHost(), socket, hostKey, attempt, deadlines, keepalive }).then(
    () => Promise.reject(new Error('it let us in')),
    (error: DroverError) => error,
  )
}

test('a server that refuses every key is said to refuse them', async () => {
  expect(await logIn(({ context }) => context.reject(['publickey'], false))).toMatchObject({
    code: 'auth-failed',
    message: expect.stringContaining('refused every key'),
  })
})

test.each([
  ['before the first answer', 0, 'offered: first'],
  ['after one key was refused', 1, 'offered: first\noffered: second'],
])('a line that is cut %s says nothing about the keys', async (_, refusals, detail) => {
  let offers = 0
  const failure = await logIn(({ context, cut }) => {
    offers += 1
    if (offers > refusals) cut()
    else context.reject(['publickey'], false)
  })
  expect(failure).toMatchObject({
    code: 'connection-lost',
    message: 'The connection to 192.0.2.1 port 22 broke during the login of root.',
    detail: expect.stringMatching(`^${detail}`),
  })
})

test('a server that leaves in the middle of the login has not refused the keys', async () => {
  expect(await logIn(({ client }) => void client.end())).toMatchObject({ code: 'connection-lost' })
})

test.each([
  [2, 'Too many authentication failures', 'auth-failed'],
  [2, 'Packet corrupt', 'connection-lost'],
  [12, 'Too many connections', 'connection-lost'],
  [14, 'No more methods', 'auth-failed'],
  [15, 'No such user', 'auth-failed'],
] as const)('a goodbye with reason %i, %s, is %s', async (reason, words, code) => {
  const failure = await logIn(({ client }) => sayGoodbye(client, reason, words))
  expect(failure).toMatchObject({ code, detail: expect.stringContaining(words) })
})

test('a login that does not end is no refusal either', async () => {
  expect(await logIn(() => undefined, 50)).toMatchObject({
    code: 'handshake-failed',
    message: expect.stringContaining('did not end within 50 ms'),
  })
})

/** ssh2 says goodbye without words of its own, so the packet is written here (RFC 4253, 11.1). */
const sayGoodbye = (client: Connection, reason: number, words: string): void => {
  const { _protocol: protocol } = client as unknown as { _protocol: ServerProtocol }
  const length = Buffer.byteLength(words)
  const packet = protocol._packetRW.write.alloc(1 + 4 + 4 + length + 4)
  let at = protocol._packetRW.write.allocStart
  packet[at] = 1
  at = packet.writeUInt32BE(reason, at + 1)
  at = packet.writeUInt32BE(length, at)
  at += packet.write(words, at)
  packet.writeUInt32BE(0, at)
  protocol._cipher.encrypt(protocol._packetRW.write.finalize(packet))
}

interface ServerProtocol {
  readonly _packetRW: {
    readonly write: { alloc(size: number): Buffer; readonly allocStart: number; finalize(packet: Buffer): Buffer }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
}
