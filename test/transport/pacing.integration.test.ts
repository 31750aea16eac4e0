import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../src/inventory/host.ts'
import type { Connection, ConnectStage, Transport } from '../../src/transport/connection.ts'
import { createOpensshTransport } from '../../src/transport/openssh/openssh-transport.ts'
import { createPacer } from '../../src/transport/pacing/pacer.ts'
import type { TransportOptions } from '../../src/transport/ssh2/ssh2-transport.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import { fakeHost } from './fake-host.ts'
import type { Relay, Welcome } from './loopback-servers.ts'
import { doormanTo, relayTo } from './loopback-servers.ts'
import type { Sshd, SshLab } from './sshd.ts'
import { createSshLab, freePort } from './sshd.ts'

/** Connections that the far side does not take at once, over real sockets and sshds. */

const deadlines = { resolveMs: 2_000, connectMs: 2_000, handshakeMs: 20_000, authMs: 20_000, channelMs: 5_000 }

let lab: SshLab
let sshd: Sshd
let undo: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  lab = createSshLab()
  sshd = await lab.start()
})
afterAll(() => lab.stop())
afterEach(async () => {
  for (const step of undo.reverse()) await step()
  undo = []
})

const makers = { ssh2: createSsh2Transport, openssh: createOpensshTransport }

const transportBy = (client: keyof typeof makers, over: Partial<TransportOptions> = {}): Transport => {
  const made = makers[client]({ deadlines, passphrase: () => undefined, env: process.env, ...over })
  undo.push(() => made.close())
  return made
}

const transport = (over: Partial<TransportOptions> = {}): Transport => transportBy('ssh2', over)

const stopAtEnd = <T extends { stop(): Promise<void> }>(server: T): T => {
  undo.push(() => server.stop())
  return server
}

const doorman = async (welcome: (count: number) => Welcome): Promise<Relay> =>
  stopAtEnd(await doormanTo(sshd.port, welcome))

const target = (port: number, over: Partial<Host> = {}): Host => {
  const file = lab.path(`known_hosts.${port}`)
  const key = `ssh-ed25519 ${lab.publicKey('host_ed25519')}`
  writeFileSync(file, `[127.0.0.1]:${port},[127.0.0.2]:${port} ${key}\n`)
  const at = { address: '127.0.0.1', port, user: lab.user }
  return fakeHost({ ...at, identityFiles: [lab.keyFile], knownHostsFiles: [file], ...over })
}

const connectAll = async (made: Transport, hosts: readonly Host[]): Promise<void> => {
  const connections = await Promise.all(hosts.map((host) => made.connect(host)))
  await Promise.all(connections.map((connection: Connection) => connection.close()))
}

const many = (count: number, host: Host): Host[] =>
  Array.from({ length: count }, (_, index) => ({ ...host, name: `host-${index}` }))

describe.each(['ssh2', 'openssh'] as const)('by %s', (client) => {
  const transport = (over: Partial<TransportOptions> = {}) => transportBy(client, over)

  test('forty logins at an sshd that takes two at a time: it turns some away, and all get in', async () => {
    const tight = stopAtEnd(await lab.start('MaxStartups 2:100:2'))
    const relay = stopAtEnd(await relayTo(tight.port))
    await connectAll(transport(), many(40, target(relay.port)))
    expect(relay.connectionCount).toBeGreaterThan(40)
    expect(relay.connectionCount).toBeLessThan(90)
  }, 60_000)

  test("forty logins at an sshd with OpenSSH's own limits: next to none is turned away", async () => {
    const usual = stopAtEnd(await lab.start('MaxStartups 10:30:100'))
    const relay = stopAtEnd(await relayTo(usual.port))
    await connectAll(transport(), many(40, target(relay.port)))
    expect(relay.connectionCount).toBeLessThan(50)
  }, 60_000)

  test.each<Welcome>(['crowded', 'close', 'reset', 'greet-and-close'])(
    'who lets some in and turns others away (%s) gets them all in the end',
    async (how) => {
      const door = await doorman((count) => (count > 0 && count < 9 ? how : 'pass'))
      const made = transport()
      await connectAll(made, [target(door.port)])
      await connectAll(made, many(12, target(door.port)))
      expect(door.connectionCount).toBe(1 + 8 + 12)
    },
    60_000,
  )

  test.each<Welcome>(['close', 'reset'])(
    'who never gave a sign of life (%s) is tried three times and no more',
    async (how) => {
      const door = await doorman(() => how)
      const stages: ConnectStage[] = []
      const began = performance.now()
      const failure = transport().connect(target(door.port), { onStage: (stage) => stages.push(stage) })
      await expect(failure).rejects.toMatchObject({
        code: expect.stringMatching(/^(handshake|connect)-failed$/),
        message: expect.stringMatching(/before the SSH handshake|connection reset/),
        detail: expect.stringContaining('tried 3 times in'),
      })
      expect([door.connectionCount, stages.filter((stage) => stage === 'waiting').length]).toEqual([3, 2])
      expect(performance.now() - began).toBeLessThan(5_000)
    },
  )

  test('one who is crowded for longer than our patience is unreachable, with the remedy for it', async () => {
    const door = await doorman(() => 'crowded')
    const failure = transport({ pacer: createPacer({ patienceMs: 1_000 }) }).connect(target(door.port))
    await expect(failure).rejects.toMatchObject({
      code: 'handshake-failed',
      message: expect.stringContaining('MaxStartups'),
      remedy: expect.stringContaining('raise MaxStartups'),
    })
    expect(door.connectionCount).toBeGreaterThan(2)
  })

  test('an sshd that is being restarted is waited for; a port where nobody ever was, hardly', async () => {
    const port = await freePort()
    const made = transport()
    const began = performance.now()
    await expect(made.connect(target(port))).rejects.toMatchObject({ code: 'connect-failed' })
    expect(performance.now() - began).toBeLessThan(1_500)
    const relay = await relayTo(sshd.port)
    await connectAll(made, [target(relay.port)])
    await relay.stop()
    const connecting = connectAll(made, [target(relay.port)])
    await sleep(1_200)
    const again = createServer()
    await new Promise<void>((resolve) => again.listen(relay.port, '127.0.0.1', resolve))
    const pass = stopAtEnd({ stop: () => new Promise<void>((resolve) => again.close(() => resolve())) })
    again.on('connection', (near) => {
      near.on('error', () => undefined)
      void import('node:net').then(({ connect }) => {
        const far = connect(sshd.port, '127.0.0.1').on('error', () => undefined)
        near.pipe(far).pipe(near)
      })
    })
    await connecting
    expect(pass).toBeDefined()
  }, 30_000)

  test.each<Welcome>(['greet', 'mute'])(
    'who lets some in and takes too long with others (%s) gets them all in the end',
    async (how) => {
      const door = await doorman((count) => (count > 0 && count < 9 ? how : 'pass'))
      const made = transport({ deadlines: { ...deadlines, connectMs: 3_000, handshakeMs: 3_000 } })
      await connectAll(made, [target(door.port)])
      await connectAll(made, many(12, target(door.port)))
      expect(door.connectionCount).toBeGreaterThanOrEqual(1 + 8 + 12)
    },
    60_000,
  )

  test.each<[Welcome, number]>([
    ['mute', 1],
    ['greet', 2],
  ])('who never let anybody in and takes too long (%s) is tried %d times', async (how, times) => {
    const door = await doorman(() => how)
    const failure = transport({ deadlines: { ...deadlines, handshakeMs: 1_000 } }).connect(target(door.port))
    await expect(failure).rejects.toMatchObject({
      code: 'handshake-failed',
      message: expect.stringContaining('did not end within 1000 ms'),
    })
    expect(door.connectionCount).toBe(times)
  })

  test('one who turns us away is asked again after a second by one host, and then by all', async () => {
    const times: number[] = []
    const door = await doorman((count) => {
      times.push(performance.now())
      return count === 1 ? 'shut-out' : 'pass'
    })
    const made = transport()
    await connectAll(made, [target(door.port)])
    await connectAll(made, [target(door.port)])
    await connectAll(made, many(4, target(door.port)))
    expect(door.connectionCount).toBe(1 + 2 + 4)
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(900)
  })

  test('who is let in at once is asked once, and never waits', async () => {
    const door = await doorman(() => 'pass')
    const stages: ConnectStage[] = []
    const connection = await transport().connect(target(door.port), { onStage: (stage) => stages.push(stage) })
    await connection.close()
    expect([door.connectionCount, stages.includes('waiting')]).toEqual([1, false])
  })
})

test('one who turns us away is left alone for a second, then for 15, then asked by one host for all', async () => {
  const times: number[] = []
  const door = await doorman((count) => {
    times.push(performance.now())
    return count < 9 ? 'shut-out' : 'pass'
  })
  await connectAll(transport(), many(10, target(door.port)))
  expect(door.connectionCount).toBe(8 + 1 + 10)
  expect((times[8] ?? 0) - (times[7] ?? 0)).toBeGreaterThan(900)
  expect((times[9] ?? 0) - (times[8] ?? 0)).toBeGreaterThan(14_500)
}, 40_000)

test('a refused login is not tried again', async () => {
  const door = await doorman(() => 'pass')
  const identityFiles = [lab.makeKey('stranger')]
  const failing = many(3, target(door.port, { identityFiles })).map((host) => transport().connect(host))
  for (const failure of await Promise.allSettled(failing)) {
    expect(failure).toMatchObject({ status: 'rejected', reason: { code: 'auth-failed' } })
  }
  expect(door.connectionCount).toBe(3)
})

test('sixty hosts behind one jump host with the usual limits take one connection to it', async () => {
  const gate = stopAtEnd(await lab.start('MaxStartups 10\nMaxSessions 10'))
  const relay = stopAtEnd(await relayTo(gate.port))
  const jump = target(relay.port, { name: 'gate' })
  const inner = Array.from({ length: 60 }, (_, index) =>
    target(sshd.port, { name: `inner-${index}`, address: index % 2 === 0 ? '127.0.0.1' : '127.0.0.2', jump: [jump] }),
  )
  await connectAll(transport(), inner)
  expect(relay.connectionCount).toBe(1)
}, 60_000)

test('a thousand hosts behind one jump host, all at once: one connection to it', async () => {
  // It lets nobody through, so that a thousand logins are not needed to see it.
  const gate = stopAtEnd(await lab.start('AllowTcpForwarding no'))
  const relay = stopAtEnd(await relayTo(gate.port))
  const inner = many(1000, target(sshd.port, { jump: [target(relay.port, { name: 'gate' })] }))
  const made = transport()
  const ends = await Promise.allSettled(
    inner.map((host, index) => made.connect({ ...host, address: `10.9.${index >> 8}.${index & 255}` })),
  )
  for (const end of ends)
    expect(end).toMatchObject({ reason: { remedy: expect.stringContaining('AllowTcpForwarding') } })
  expect(relay.connectionCount).toBe(1)
}, 60_000)

test('a jump host that breaks while hosts connect through it is connected once more for all of them', async () => {
  const gate = stopAtEnd(await relayTo(sshd.port))
  const tight = stopAtEnd(await lab.start('MaxStartups 2:100:2'))
  const jump = target(gate.port, { name: 'gate' })
  const made = transport()
  let stages = 0
  const connecting = many(30, target(tight.port, { jump: [jump] })).map((host) =>
    made.connect(host, {
      onStage: (stage) => {
        if (stage !== 'handshake') return
        stages += 1
        if (stages === 5) gate.cut()
      },
    }),
  )
  const connections = await Promise.allSettled(connecting)
  await Promise.all(connections.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
  // Those that were in before it broke count, too: their loss is told by their next command.
  expect(connections.filter(({ status }) => status === 'rejected')).toEqual([])
  expect(gate.connectionCount).toBe(2)
}, 60_000)

test('three jump hosts in a row, each checked under its own name', async () => {
  const ports = [stopAtEnd(await lab.start()), stopAtEnd(await lab.start()), stopAtEnd(await lab.start())]
  const hops = ports.map(({ port }, index) => target(port, { name: `hop-${index}` }))
  await connectAll(transport(), many(10, target(sshd.port, { address: '127.0.0.2', jump: hops })))
  lab.makeKey('other')
  const wrong = lab.path('known_hosts.wrong')
  const { port } = hops[1] as Host
  writeFileSync(wrong, `[127.0.0.1]:${port} ssh-ed25519 ${lab.publicKey('other')}\n`)
  const jump = hops.map((hop, index) => (index === 1 ? { ...hop, knownHostsFiles: [wrong] } : hop))
  await expect(transport().connect(target(sshd.port, { jump }))).rejects.toMatchObject({
    code: 'host-key-changed',
    message: expect.stringMatching(/^By way of jump host hop-2: By way of jump host hop-1: /),
  })
}, 30_000)

test('two hosts with one address behind different jump hosts are two hosts', async () => {
  const [one, two] = [stopAtEnd(await lab.start()), stopAtEnd(await lab.start())]
  const made = transport()
  const hosts = [one, two].map(({ port }) => target(sshd.port, { jump: [target(port, { name: `gate-${port}` })] }))
  const connections = await Promise.all(hosts.map((host) => made.connect(host)))
  const request = { command: 'echo "$PPID"', deadlineMs: 5_000, maxBytes: 1_000 }
  const parents = await Promise.all(connections.map((connection) => connection.exec(request)))
  expect(new Set(parents.map(({ stdout }) => stdout.toString())).size).toBe(2)
  await Promise.all(connections.map((connection) => connection.close()))
})
