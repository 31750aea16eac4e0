import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { AuthContext, Connection, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import { Secret } from '../../src/secret.ts'
import { createAuthAttempt } from '../../src/transport/login/auth-handler.ts'
import { PasswordGate } from '../../src/transport/login/password-gate.ts'
import { wireString } from '../../src/transport/login/wire.ts'
import { openClient } from '../../src/transport/ssh2/ssh2-client.ts'
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
  const offers = ['first', 'second'].map((label) => ({
    label,
    isConfigured: true,
    key: ssh2.utils.parseKey(makeKey()) as ParsedKey,
  }))
  const password = { secret: new Secret('the password'), gate: new PasswordGate() }
  const attempt = createAuthAttempt({ host: fakeHost(), offers, password })
  const deadlines = { handshakeMs: 60_000, authMs }
  const keepalive = { intervalMs: 0, countMax: 0 }
  return openClient({ host: fakeHost(), socket, hostKey, attempt, deadlines, keepalive }).then(
    () => Promise.reject(new Error('it let us in')),
    (error: DroverError) => error,
  )
}

test('the first key comes with its signature, the next are asked about before', async () => {
  const signed: boolean[] = []
  await logIn(({ context }) => {
    if (context.method === 'publickey') signed.push(context.signature !== undefined)
    context.reject(['publickey'], false)
  })
  expect(signed).toEqual([true, false])
})

test('a password that has to be changed is an error at once, and not a wait', async () => {
  const { message } = await logIn(({ context, client }) => {
    if (context.method === 'password') askForChange(client)
    else context.reject(['password'], false)
  })
  expect(message).toMatch(/the password has expired \(it says: Choose another\)/)
})

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

/** ssh2 says goodbye without words of its own (RFC 4253, 11.1), and never asks for another password (RFC 4252, 8). */
const sayGoodbye = (client: Connection, reason: number, words: string): void =>
  send(client, Buffer.concat([Buffer.from([1, 0, 0, 0, reason]), wireString(words), wireString('')]))

const askForChange = (client: Connection): void =>
  send(client, Buffer.concat([Buffer.from([60]), wireString('Choose another'), wireString('')]))

const send = (client: Connection, message: Buffer): void => {
  const { _protocol: protocol } = client as unknown as { _protocol: ServerProtocol }
  const packet = protocol._packetRW.write.alloc(message.length)
  packet.set(message, protocol._packetRW.write.allocStart)
  protocol._cipher.encrypt(protocol._packetRW.write.finalize(packet))
}

interface ServerProtocol {
  readonly _packetRW: {
    readonly write: { alloc(size: number): Buffer; readonly allocStart: number; finalize(packet: Buffer): Buffer }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
}
