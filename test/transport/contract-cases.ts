import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import type { Host } from '../../src/inventory/host.ts'
import type { Connection, ExecRequest, Transport, TransportNotice } from '../../src/transport/connection.ts'
import { createOpensshTransport } from '../../src/transport/openssh/openssh-transport.ts'
import { createPacer } from '../../src/transport/pacing/pacer.ts'
import { runScript } from '../../src/transport/script/run-script.ts'
import type { TransportOptions } from '../../src/transport/ssh2/ssh2-transport.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import { fakeHost } from './fake-host.ts'
import type { LoopbackServer } from './loopback-servers.ts'
import { relayTo, serve, serveNothing } from './loopback-servers.ts'
import type { Sshd, SshLab } from './sshd.ts'
import { createSshLab, freePort } from './sshd.ts'

/** What every transport has to do, against a real sshd. */
export const contractCases = (client: 'ssh2' | 'openssh'): void => {
  const deadlines = { resolveMs: 5_000, connectMs: 5_000, handshakeMs: 20_000, authMs: 20_000, channelMs: 20_000 }

  let lab: SshLab
  let sshd: Sshd
  let undo: (() => Promise<unknown>)[] = []
  let notices: TransportNotice[] = []
  let fileCount = 0

  beforeAll(async () => {
    lab = createSshLab()
    sshd = await lab.start()
  })
  afterAll(() => lab.stop())
  afterEach(async () => {
    for (const step of undo.reverse()) await step()
    undo = []
    notices = []
  })

  const transport = (over: Partial<TransportOptions> = {}): Transport => {
    const made = (client === 'ssh2' ? createSsh2Transport : createOpensshTransport)({
      deadlines,
      passphrase: () => undefined,
      onNotice: (notice) => notices.push(notice),
      env: process.env,
      ...over,
    })
    undo.push(() => made.close())
    return made
  }

  const knownHostsFile = (text: string): string => {
    fileCount += 1
    const file = lab.path(`known_hosts.${fileCount}`)
    writeFileSync(file, text)
    return file
  }

  const entry = (port: number, address = '127.0.0.1', key = 'host_ed25519', type = 'ssh-ed25519') =>
    `[${address}]:${port} ${type} ${lab.publicKey(key)}\n`

  const target = (over: Partial<Host> = {}): Host => {
    const port = over.port ?? sshd.port
    return fakeHost({
      address: '127.0.0.1',
      port,
      user: lab.user,
      identityFiles: [lab.keyFile],
      knownHostsFiles: [knownHostsFile(entry(port, over.address))],
      ...over,
    })
  }

  const connect = async (host = target(), over: Partial<TransportOptions> = {}): Promise<Connection> => {
    const connection = await transport(over).connect(host)
    undo.push(() => connection.close())
    return connection
  }

  const exec = (connection: Connection, command: string, over: Partial<ExecRequest> = {}) =>
    connection.exec({ command, deadlineMs: 10_000, maxBytes: 1_000_000, ...over })

  const stopAtEnd = <T extends Pick<LoopbackServer, 'stop'>>(server: T): T => {
    undo.push(() => server.stop())
    return server
  }

  const echoScript = 'main() { printf "%s\\0" "$@"; cat; echo talk >&2; return 3; }\nmain "$@"\n'

  describe('a connection', () => {
    test('logs in with a key file, says what it talks to, and runs a script', async () => {
      const connection = await connect()
      expect(connection.serverVersion).toMatch(/^SSH-2\.0-OpenSSH_/)
      const answer = await runScript(connection, {
        run: 'r1',
        verb: 'echo',
        script: echoScript,
        args: ['a b', "it's\n\n", '!%\\', ''],
        payload: randomBytes(300_000),
        become: null,
        deadlineMs: 10_000,
        maxBytes: 1_000_000,
      })
      expect(answer.code).toBe(3)
      expect(answer.stderr.toString()).toBe('talk\n')
      expect(answer.stdout.subarray(0, 16).toString()).toBe("a b\0it's\n\n\0!%\\\0\0")
      expect(answer.stdout.length).toBe(300_016)
    })

    test.each([
      ['ecdsa', 'ecdsa'],
      ['rsa', 'rsa'],
    ])('logs in with an %s key', async (name, type) => {
      const file = lab.makeKey(`user_${name}`, { type })
      lab.authorize(`user_${name}`)
      expect((await exec(await connect(target({ identityFiles: [file] })), 'echo in')).stdout.toString()).toBe('in\n')
    })

    test('opens an encrypted key with its passphrase, asked for once', async () => {
      const file = lab.makeKey('user_locked', { passphrase: 'sesame' })
      lab.authorize('user_locked')
      const asked: string[] = []
      const passphrase = (path: string) => {
        asked.push(path)
        return 'sesame'
      }
      const made = transport({ passphrase })
      for (const connection of await Promise.all([1, 2].map(() => made.connect(target({ identityFiles: [file] }))))) {
        await connection.close()
      }
      expect(asked).toEqual([file])
    })

    test.each([1, 2, 3])(
      'runs twenty commands at once, and a server that allows %d sessions gets no more',
      async (most) => {
        const tight = stopAtEnd(await lab.start(`MaxSessions ${most}`))
        for (const connection of [await connect(), await connect(target({ port: tight.port }))]) {
          const results = await Promise.all(
            Array.from({ length: 20 }, (_, i) => exec(connection, `sleep 0.02; echo ${i}`)),
          )
          expect(results.map(({ stdout }) => stdout.toString())).toEqual(Array.from({ length: 20 }, (_, i) => `${i}\n`))
        }
      },
    )

    test('survives key re-exchanges in the middle of traffic', async () => {
      const rekeying = stopAtEnd(await lab.start('RekeyLimit 512K'))
      const connection = await connect(target({ port: rekeying.port }))
      const stdin = randomBytes(4_000_000)
      const echoed = await Promise.all(
        [1, 2].map(() => exec(connection, 'cat', { stdin, maxBytes: 5_000_000, deadlineMs: 50_000 })),
      )
      for (const { stdout } of echoed) expect([stdout.length, stdin.equals(stdout)]).toEqual([stdin.length, true])
    })

    test('closed by us, it takes no more commands', async () => {
      const connection = await connect()
      await connection.close()
      await connection.close()
      await expect(exec(connection, 'echo')).rejects.toMatchObject({ code: 'connection-lost' })
    })

    test('closed by us, it ends although its server is stopped and answers nothing', async () => {
      const frozen = stopAtEnd(await lab.start())
      const connection = await connect(target({ port: frozen.port }))
      frozen.freeze()
      await connection.close()
      await expect(exec(connection, 'echo')).rejects.toMatchObject({ code: 'connection-lost' })
    }, 10_000)
  })

  describe('with ssh-agent', () => {
    test('an empty list of keys means what the agent holds, and of many keys no more are offered than a host bears', async () => {
      const agent = stopAtEnd(await lab.startAgent())
      for (let index = 0; index < 4; index += 1) agent.add(lab.makeKey(`held_${index}`))
      agent.add(lab.makeKey('held_rsa', { type: 'rsa' }))
      lab.authorize('held_rsa')
      const connection = await connect(target({ identityFiles: [] }), { agentSocket: agent.socket })
      expect((await exec(connection, 'echo in')).stdout.toString()).toBe('in\n')
      const identityFiles = [lab.makeKey('first_stranger')]
      const failure = await connect(target({ identityFiles }), { agentSocket: agent.socket }).catch(
        (error: DroverError) => error,
      )
      // ssh would offer what the agent holds first, so it is left the named key alone.
      expect((failure as DroverError).detail?.match(/offered:/g)).toHaveLength(client === 'ssh2' ? 5 : 1)
      expect((failure as DroverError).detail).toContain(`offered: ${identityFiles[0]} (`)
    })

    test('an encrypted key file needs no passphrase when the agent holds its key', async () => {
      const agent = stopAtEnd(await lab.startAgent())
      agent.add(lab.keyFile)
      const file = lab.encryptedCopy('user', 'user_copy', 'sesame')
      const connection = await connect(target({ identityFiles: [file] }), { agentSocket: agent.socket })
      expect((await exec(connection, 'echo in')).stdout.toString()).toBe('in\n')
    })

    test('an agent that is gone is told of, and the key file is used', async () => {
      await connect(target(), { agentSocket: lab.path('no-agent') })
      expect(notices).toEqual([{ host: 'host-1', message: expect.stringContaining('of no use') }])
    })
  })

  describe('host keys', () => {
    const hashed = (name: string): string => {
      const salt = randomBytes(20)
      return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
    }

    test('an unknown key is refused with its fingerprint', async () => {
      await expect(connect(target({ knownHostsFiles: [knownHostsFile('')] }))).rejects.toMatchObject({
        code: 'host-key-unknown',
        message: expect.stringMatching(/\[127\.0\.0\.1\]:\d+; it shows ssh-ed25519 SHA256:[\w+/]{43}\.$/),
      })
    })

    test('another key than the known one is refused', async () => {
      lab.makeKey('other')
      const knownHostsFiles = [knownHostsFile(entry(sshd.port, '127.0.0.1', 'other'))]
      await expect(connect(target({ knownHostsFiles }))).rejects.toMatchObject({ code: 'host-key-changed' })
      await expect(connect(target({ knownHostsFiles, hostKeyPolicy: 'accept-new' }))).rejects.toMatchObject({
        code: 'host-key-changed',
      })
    })

    test('a revoked key is refused although it is known', async () => {
      const knownHostsFiles = [
        knownHostsFile(`${entry(sshd.port)}@revoked * ssh-ed25519 ${lab.publicKey('host_ed25519')}\n`),
      ]
      await expect(connect(target({ knownHostsFiles }))).rejects.toMatchObject({ code: 'host-key-revoked' })
    })

    test.each([
      ['host_rsa', 'ssh-rsa'],
      ['host_ecdsa', 'ecdsa-sha2-nistp256'],
    ])('the host is asked for the type of key that is known (%s)', async (key, type) => {
      const knownHostsFiles = [knownHostsFile(entry(sshd.port, '127.0.0.1', key, type))]
      await connect(target({ knownHostsFiles }))
    })

    test('hashed names are found', async () => {
      const line = `${hashed(`[127.0.0.1]:${sshd.port}`)} ssh-ed25519 ${lab.publicKey('host_ed25519')}\n`
      await connect(target({ knownHostsFiles: [knownHostsFile(line)] }))
    })

    test('accept-new writes the key down once, for many connections at once, and strict then takes it', async () => {
      const file = lab.path('learnt/known_hosts')
      const host = target({ knownHostsFiles: [file], hostKeyPolicy: 'accept-new' })
      const made = transport()
      const connections = await Promise.all([1, 2, 3, 4].map(() => made.connect(host)))
      await Promise.all(connections.map((connection) => connection.close()))
      expect(readFileSync(file, 'utf8')).toBe(entry(sshd.port))
      expect(notices).toEqual([{ host: 'host-1', message: expect.stringContaining('learnt the host key') }])
      await connect(target({ knownHostsFiles: [file] }))
    })

    test('off takes any key and says so', async () => {
      await connect(target({ knownHostsFiles: ['/nonexistent'], hostKeyPolicy: 'off' }))
      expect(notices).toEqual([{ host: 'host-1', message: expect.stringContaining('not checked') }])
    })
  })

  describe('a connection that does not come about', () => {
    test('refused', async () => {
      const port = await freePort()
      await expect(connect(target({ port }))).rejects.toMatchObject({
        code: 'connect-failed',
        message: `No TCP connection to 127.0.0.1 port ${port}: connection refused.`,
      })
    })

    test('a name without address', async () => {
      await expect(connect(target({ address: 'nowhere.invalid' }))).rejects.toMatchObject({
        code: 'resolve-failed',
        message: expect.stringMatching(/^The name nowhere\.invalid \(for port \d+\) does not resolve: /),
      })
    })

    // Of names that ssh resolves, only ssh knows.
    if (client === 'ssh2') {
      test('a name without address', async () => {
        const resolver = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
        await expect(connect(target({ address: 'nowhere.invalid' }), { resolver })).rejects.toMatchObject({
          code: 'resolve-failed',
          message: expect.stringContaining('ENOTFOUND'),
        })
      })

      test('a name service that does not answer', async () => {
        const resolver = () => new Promise<never>(() => undefined)
        const over = { resolver, deadlines: { ...deadlines, resolveMs: 50 } }
        await expect(connect(target({ address: 'slow.invalid' }), over)).rejects.toMatchObject({
          code: 'resolve-failed',
        })
      })

      test('a second address is tried after a first one that is silent', async () => {
        const silent = stopAtEnd(await serveNothing())
        const knownHostsFiles = [knownHostsFile(entry(silent.port, 'two.invalid'))]
        const host = target({ address: 'two.invalid', port: silent.port, knownHostsFiles })
        const over = { resolver: async () => ['127.0.0.1', '127.0.0.9'], deadlines: { ...deadlines, connectMs: 400 } }
        await expect(connect(host, over)).rejects.toMatchObject({
          code: 'connect-failed',
          message: expect.stringContaining('two.invalid 127.0.0.9'),
          detail: expect.stringContaining('No answer to the TCP connection from two.invalid 127.0.0.1'),
        })
      })
    }

    test('a port that drops the packets', async () => {
      const silent = stopAtEnd(await serveNothing())
      const over = { deadlines: { ...deadlines, connectMs: 100 } }
      await expect(connect(target({ port: silent.port }), over)).rejects.toMatchObject({ code: 'connect-timeout' })
    })

    test('a port that takes the connection and says nothing', async () => {
      const mute = stopAtEnd(await serve(() => undefined))
      const over = { deadlines: { ...deadlines, handshakeMs: 100 } }
      await expect(connect(target({ port: mute.port }), over)).rejects.toMatchObject({
        code: 'handshake-failed',
        message: expect.stringContaining('within 100 ms'),
      })
    })

    test('a server that ends the key exchange and never answers the login', async () => {
      const asked: string[] = []
      const clients = new Set<ssh2.Connection>()
      const mute = new ssh2.Server({ hostKeys: [readFileSync(lab.path('host_ed25519'))] }, (client) => {
        clients.add(client.on('error', () => undefined))
        client.on('authentication', ({ method, username }) => asked.push(`${method} ${username}`))
      })
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
      undo.push(() => {
        for (const client of clients) client.end()
        return new Promise((resolve) => mute.close(resolve))
      })
      const { port } = mute.address() as AddressInfo
      // Each stage has a deadline of its own: this one would never come to an end by that of the key exchange.
      const over = { deadlines: { ...deadlines, handshakeMs: 3_600_000, authMs: 300 } }
      await expect(connect(target({ port }), over)).rejects.toMatchObject({
        code: 'handshake-failed',
        message: `127.0.0.1 port ${port} did not let ${lab.user} log in: the login did not end within 300 ms.`,
        remedy: expect.stringContaining('ssh-agent'),
        // ssh asks first whether it needs any, and this server answers nothing.
        ...(client === 'ssh2' && { detail: expect.stringContaining(`offered: ${lab.keyFile}`) }),
      })
      expect(asked).toEqual([`${client === 'ssh2' ? 'publickey' : 'none'} ${lab.user}`])
      expect(clients.size).toBe(1)
    })

    test.each([
      ['like HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /is no SSH server/],
      ['that it is overloaded', 'Exceeded MaxStartups\r\n', /MaxStartups/],
      ['that it is offended', 'Not allowed at this time\r\n', /PerSourcePenalties/],
      ['nothing and closes', '', /closed the connection before the SSH handshake/],
      ['its version', 'SSH-2.0-Odd\r\n', /handshake .* failed/],
      ['a version of old', 'SSH-1.5-Old\r\n', /handshake .* failed/],
      ['control characters', '\x1b[2J'.repeat(10_000), /is no SSH server/],
      ['a version and garbage', `SSH-2.0-Garbage\r\n${'x'.repeat(5_000)}`, /handshake .* failed/],
    ])('a server that says %s', async (_, text, message) => {
      const odd = stopAtEnd(await serve((socket) => socket.end(text, 'latin1')))
      const over = { pacer: createPacer({ patienceMs: 0 }) }
      const failure = await connect(target({ port: odd.port }), over).catch((error: DroverError) => error)
      expect(failure).toMatchObject({ code: 'handshake-failed', message: expect.stringMatching(message) })
      expect((failure as DroverError).detail ?? '').not.toContain('\x1b')
    })

    test('a key that the host does not know', async () => {
      const file = lab.makeKey('stranger')
      await expect(connect(target({ identityFiles: [file] }))).rejects.toMatchObject({
        code: 'auth-failed',
        message: expect.stringContaining('refused every key'),
        detail: expect.stringContaining(`offered: ${file} (ssh-ed25519 SHA256:`),
      })
    })

    test('a server that takes the key, twice, and hangs up on the signature: the account is not let in', async () => {
      let asked = 0
      const strict = new ssh2.Server({ hostKeys: [readFileSync(lab.path('host_ed25519'))] }, (client) => {
        client.on('error', () => undefined)
        client.on('authentication', (context) => {
          if (context.method !== 'publickey') return context.reject(['publickey'])
          if (context.signature === undefined) return context.accept()
          asked += 1
          // Without the goodbye that ssh2's own `end` says.
          ;(client as unknown as { _sock: Duplex })._sock.end()
        })
      })
      await new Promise<void>((resolve) => strict.listen(0, '127.0.0.1', resolve))
      undo.push(() => new Promise((resolve) => strict.close(resolve)))
      const { port } = strict.address() as AddressInfo
      await expect(connect(target({ port }))).rejects.toMatchObject({
        code: 'auth-failed',
        message: expect.stringContaining('PAM refuses the account'),
        detail: expect.stringContaining('tried 2 times'),
      })
      expect(asked).toBe(2)
    })

    test('no more than five of many keys are offered', async () => {
      const identityFiles = Array.from({ length: 7 }, (_, index) => lab.makeKey(`many_${index}`))
      const failure = await connect(target({ identityFiles })).catch((error: { detail: string }) => error)
      expect((failure as { detail: string }).detail.match(/offered:/g)).toHaveLength(5)
    })

    test('no key at all', async () => {
      await expect(connect(target({ identityFiles: [] }))).rejects.toMatchObject({
        code: 'auth-failed',
        message: expect.stringContaining('no key to offer'),
      })
    })

    test('a host that wants more than a key', async () => {
      const strict = stopAtEnd(
        await lab.start('AuthenticationMethods publickey,keyboard-interactive\nKbdInteractiveAuthentication yes'),
      )
      await expect(connect(target({ port: strict.port }))).rejects.toMatchObject({
        code: 'auth-failed',
        message: expect.stringContaining('also wants keyboard-interactive'),
      })
    })

    test('interrupted at each stage', async () => {
      const mute = stopAtEnd(await serve(() => undefined))
      const silent = stopAtEnd(await serveNothing())
      for (const port of [mute.port, silent.port]) {
        const controller = new AbortController()
        const connecting = transport().connect(target({ port }), { signal: controller.signal })
        setTimeout(() => controller.abort(), 50)
        await expect(connecting).rejects.toMatchObject({ code: 'cancelled' })
      }
      await expect(transport().connect(target(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'cancelled',
      })
    })

    test('what is unusable here is known before any connection', async () => {
      const locked = lab.makeKey('locked', { passphrase: 'x' })
      const host = target({ port: 1 })
      const prepare = (over: Partial<Host>) => transport().prepare([{ ...host, ...over }])
      await prepare({})
      await expect(prepare({ identityFiles: [locked, '/nonexistent'] })).rejects.toMatchObject({
        code: 'key-unusable',
        faults: [{ file: locked }, { file: '/nonexistent' }],
      })
      await expect(prepare({ knownHostsFiles: ['/nonexistent'] })).rejects.toMatchObject({
        code: 'known-hosts-unreadable',
      })
      await expect(prepare({ certificateFiles: ['/nonexistent'] })).rejects.toMatchObject({
        code: 'key-unusable',
        faults: [{ file: '/nonexistent' }],
      })
      await expect(prepare({ jump: [target({ identityFiles: ['/nonexistent'] })] })).rejects.toMatchObject({
        code: 'key-unusable',
      })
    })
  })

  describe('a command', () => {
    test('its status, its signal, and its two streams', async () => {
      const connection = await connect()
      expect(await exec(connection, 'echo out; echo err >&2; exit 255')).toEqual({
        code: 255,
        signal: null,
        stdout: Buffer.from('out\n'),
        stderr: Buffer.from('err\n'),
      })
      expect(await exec(connection, 'kill -KILL $$')).toMatchObject({ code: null, signal: 'SIGKILL' })
    })

    test('its output is handed on while it runs', async () => {
      const connection = await connect()
      const first = Promise.withResolvers<string>()
      const go = lab.path('go')
      const running = exec(connection, `echo one; until [ -e ${go} ]; do sleep 0.02; done; echo two`, {
        onStdout: (chunk) => first.resolve(Buffer.from(chunk).toString()),
      })
      expect(await first.promise).toBe('one\n')
      writeFileSync(go, '')
      expect((await running).stdout.toString()).toBe('one\ntwo\n')
    })

    test('a callback that throws ends this command and no other', async () => {
      const connection = await connect()
      const other = exec(connection, 'sleep 0.2; echo fine')
      const onStdout = () => {
        throw new Error('in the callback')
      }
      await expect(exec(connection, 'echo', { onStdout })).rejects.toMatchObject({
        code: 'internal',
        message: 'in the callback',
      })
      expect((await other).stdout.toString()).toBe('fine\n')
    })

    test('with more output than allowed is cut off, and the connection goes on', async () => {
      const connection = await connect()
      const flood = 'head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2'
      await expect(exec(connection, flood)).rejects.toMatchObject({ code: 'inspect-failed' })
      expect((await exec(connection, 'echo fine')).stdout.toString()).toBe('fine\n')
      expect((await exec(connection, flood, { maxBytes: 6_000_000 })).stdout.length).toBe(3_000_000)
    })

    test('past its deadline, and interrupted', async () => {
      const connection = await connect()
      await expect(exec(connection, 'sleep 3', { deadlineMs: 100 })).rejects.toMatchObject({ code: 'command-timeout' })
      const controller = new AbortController()
      const running = exec(connection, 'sleep 3', { signal: controller.signal })
      setTimeout(() => controller.abort(), 50)
      await expect(running).rejects.toMatchObject({ code: 'cancelled' })
      await expect(exec(connection, 'echo', { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'cancelled',
      })
      expect((await exec(connection, 'echo fine')).stdout.toString()).toBe('fine\n')
    })

    test('that ends before its input is read', async () => {
      const connection = await connect()
      expect(await exec(connection, 'exit 4', { stdin: Buffer.alloc(5_000_000) })).toMatchObject({ code: 4 })
      await expect(
        exec(connection, 'sleep 2', { stdin: Buffer.alloc(5_000_000), deadlineMs: 100 }),
      ).rejects.toMatchObject({
        code: 'command-timeout',
      })
    })

    test('that leaves a child holding its output ends two seconds later', async () => {
      const connection = await connect()
      const began = performance.now()
      expect(await exec(connection, 'sleep 5 & echo done')).toMatchObject({ code: 0, stdout: Buffer.from('done\n') })
      expect(performance.now() - began).toBeLessThan(4_000)
    })

    test('is lost, never successful, when its sshd is killed in the middle', async () => {
      const connection = await connect()
      const parent = Promise.withResolvers<number>()
      const onStdout = (chunk: Uint8Array) => parent.resolve(Number(Buffer.from(chunk).toString()))
      const running = [exec(connection, 'echo $PPID; exec sleep 2', { onStdout }), exec(connection, 'exec sleep 2')]
      process.kill(await parent.promise, 'SIGKILL')
      for (const lost of running) await expect(lost).rejects.toMatchObject({ code: 'connection-lost' })
      await expect(exec(connection, 'echo')).rejects.toMatchObject({ code: 'connection-lost' })
      await connection.close()
    })

    test('is lost when keepalives get no answer', async () => {
      const relay = stopAtEnd(await relayTo(sshd.port))
      const connection = await connect(target({ port: relay.port }), { keepalive: { intervalMs: 50, countMax: 2 } })
      relay.goDeaf()
      await expect(exec(connection, 'echo')).rejects.toMatchObject({
        code: 'connection-lost',
        message: expect.stringMatching(/Keepalive timeout|Timeout, server .* not responding/),
      })
    })

    test('is refused where the host allows no session', async () => {
      const closed = stopAtEnd(await lab.start('MaxSessions 0'))
      await expect(exec(await connect(target({ port: closed.port })), 'echo')).rejects.toMatchObject({
        code: 'channel-failed',
        remedy: expect.stringContaining('MaxSessions'),
      })
    })
  })

  describe('jump hosts', () => {
    const behind = (jump: readonly Host[], over: Partial<Host> = {}): Host =>
      target({ name: 'inner', address: '127.0.0.2', jump, ...over })

    test('many hosts share one way through two jump hosts, each checked under its own name', async () => {
      const logins = stopAtEnd(await lab.start('MaxSessions 2'))
      const first = target({ name: 'first', port: logins.port })
      const made = transport()
      const hosts = Array.from({ length: 12 }, (_, index) =>
        behind([first, target({ name: 'second' })], { name: `h${index}` }),
      )
      const connections = await Promise.all(hosts.map((host) => made.connect(host)))
      const answers = await Promise.all(connections.map((connection) => exec(connection, 'echo "$SSH_CONNECTION"')))
      for (const { stdout } of answers) expect(stdout.toString()).toContain(`127.0.0.2 ${sshd.port}`)
      await Promise.all(connections.map((connection) => connection.close()))
    })

    test('a wrong key behind a jump host is the fault of that host', async () => {
      lab.makeKey('wrong')
      const knownHostsFiles = [knownHostsFile(entry(sshd.port, '127.0.0.2', 'wrong'))]
      const failure = connect(behind([target()], { knownHostsFiles }))
      await expect(failure).rejects.toMatchObject({ code: 'host-key-changed' })
      await expect(failure).rejects.toThrow(/^\[127\.0\.0\.2\]/)
    })

    test('a jump host that refuses the key says so for each host, and is asked once', async () => {
      const relay = stopAtEnd(await relayTo(sshd.port))
      const made = transport()
      const jump = target({ name: 'gate', port: relay.port, identityFiles: [lab.makeKey('jump_stranger')] })
      const failing = [made.connect(behind([jump])), made.connect(behind([jump], { name: 'another' }))]
      for (const failure of await Promise.allSettled(failing)) {
        expect(failure).toMatchObject({
          reason: {
            code: 'auth-failed',
            message: expect.stringMatching(/^By way of jump host gate: 127\.0\.0\.1 port/),
          },
        })
      }
      await expect(made.connect(behind([jump], { name: 'late' }))).rejects.toMatchObject({ code: 'auth-failed' })
      expect(relay.connectionCount).toBe(1)
    })

    test('a jump host that goes away ends the hosts behind it and no other, and is connected anew', async () => {
      const relay = stopAtEnd(await relayTo(sshd.port))
      const made = transport()
      const jump = target({ name: 'gate', port: relay.port })
      const hosts = [behind([jump]), behind([jump], { name: 'inner-2' }), target()] as const
      const [one, two, direct] = await Promise.all(hosts.map((host) => made.connect(host)))
      expect(relay.connectionCount).toBe(1)
      const running = [one, two].map((inner) =>
        exec(inner as Connection, 'echo; exec sleep 2', { onStdout: () => relay.cut() }),
      )
      for (const lost of await Promise.allSettled(running)) {
        const message = expect.stringMatching(/^The connection to 127\.0\.0\.2 port \d+ broke: .*jump host gate/)
        expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'connection-lost', message } })
      }
      expect((await exec(direct as Connection, 'echo fine')).stdout.toString()).toBe('fine\n')
      const again = await made.connect(behind([jump]))
      expect((await exec(again, 'echo again')).stdout.toString()).toBe('again\n')
      await Promise.all([direct, again].map((connection) => connection?.close()))
    })

    test('nobody waiting for it any more, a jump host is not waited for', async () => {
      const mute = stopAtEnd(await serve(() => undefined))
      const made = transport()
      const controller = new AbortController()
      const connecting = made.connect(behind([target({ port: mute.port })]), { signal: controller.signal })
      setTimeout(() => controller.abort(), 50)
      await expect(connecting).rejects.toMatchObject({ code: 'cancelled' })
      await made.close()
    })

    test('a closed port behind a jump host, and a jump host that forwards nothing', async () => {
      const port = await freePort()
      await expect(connect(behind([target()], { port }))).rejects.toMatchObject({
        code: 'connect-failed',
        message: expect.stringContaining('from jump host host-1'),
      })
      const closed = stopAtEnd(await lab.start('AllowTcpForwarding no'))
      await expect(connect(behind([target({ port: closed.port })]))).rejects.toMatchObject({
        code: 'connect-failed',
        remedy: expect.stringContaining('AllowTcpForwarding'),
      })
    })

    test('a jump host that is stopped keeps neither the hosts behind it nor itself open', async () => {
      const frozen = stopAtEnd(await lab.start())
      const made = transport()
      const inner = await made.connect(behind([target({ name: 'gate', port: frozen.port })]))
      frozen.freeze()
      await inner.close()
      await made.close()
    }, 10_000)

    test('a silent port behind a jump host', async () => {
      const silent = stopAtEnd(await serveNothing())
      const host = behind([target()], { address: '127.0.0.1', port: silent.port })
      await expect(connect(host, { deadlines: { ...deadlines, connectMs: 200 } })).rejects.toMatchObject({
        code: 'connect-timeout',
      })
    })
  })
}
