import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import ssh2 from 'ssh2'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import type { Host } from '../../src/inventory/host.ts'
import { Secret } from '../../src/secret.ts'
import type { Connection, Transport, TransportNotice } from '../../src/transport/connection.ts'
import { masterArguments } from '../../src/transport/openssh/arguments.ts'
import { createOpensshTransport } from '../../src/transport/openssh/openssh-transport.ts'
import { createPacer } from '../../src/transport/pacing/pacer.ts'
import { createTransport, type TransportOptions } from '../../src/transport/transport.ts'
import { fakeHost } from './fake-host.ts'
import { createSshLab, type Sshd, type SshLab } from './sshd.ts'

/** What only this client does: processes, the user's own configuration, questions, and what is left behind. */

const deadlines = { resolveMs: 10_000, connectMs: 5_000, handshakeMs: 10_000, authMs: 10_000, channelMs: 10_000 }

let lab: SshLab
let sshd: Sshd
let runtime: string
let undo: (() => Promise<unknown> | unknown)[] = []
let notices: TransportNotice[] = []

beforeAll(async () => {
  lab = createSshLab()
  lab.makeKey('ca')
  sshd = await lab.start(`TrustedUserCAKeys ${lab.path('ca.pub')}`)
})
afterAll(() => lab.stop())
beforeEach(() => {
  runtime = mkdtempSync('/tmp/rt-')
  process.env.XDG_RUNTIME_DIR = runtime
})
afterEach(async () => {
  for (const step of undo.reverse()) await step()
  undo = []
  notices = []
  rmSync(runtime, { recursive: true, force: true })
})

const openssh = (over: Partial<TransportOptions> = {}, make = createOpensshTransport): Transport => {
  const made = make({
    deadlines,
    passphrase: () => undefined,
    onNotice: (notice) => notices.push(notice),
    env: process.env,
    pacer: createPacer({ patienceMs: 0 }),
    ...over,
  })
  undo.push(() => made.close())
  return made
}

const target = (over: Partial<Host> = {}): Host => {
  const port = over.port ?? sshd.port
  const file = lab.path(`known.${port}`)
  const names = `[127.0.0.1]:${port},[127.0.0.2]:${port},[web.alias]:${port}`
  writeFileSync(file, `${names} ssh-ed25519 ${lab.publicKey('host_ed25519')}\n`)
  return fakeHost({
    address: '127.0.0.1',
    port,
    user: lab.user,
    identityFiles: [lab.keyFile],
    knownHostsFiles: [file],
    ...over,
  })
}

const connect = async (host = target(), over: Partial<TransportOptions> = {}): Promise<Connection> => {
  const connection = await openssh(over).connect(host)
  undo.push(() => connection.close())
  return connection
}

const say = async (connection: Connection, command = 'echo in'): Promise<string> => {
  const { stdout } = await connection.exec({ command, deadlineMs: 10_000, maxBytes: 100_000 })
  return Buffer.from(stdout).toString()
}

const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 15_000; !holds(); await sleep(20)) {
    if (performance.now() > end) throw new Error(`in vain: ${what}`)
  }
}

interface Process {
  readonly pid: number
  readonly words: readonly string[]
  readonly environment: string
}

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

const processes = (): readonly Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      words: readIfThere(`/proc/${name}/cmdline`).split('\0'),
      environment: readIfThere(`/proc/${name}/environ`),
    }))

/** Our ssh processes: those whose sockets are in the folder of this test. */
const masters = (): readonly Process[] =>
  processes().filter(({ words }) => words[0] === 'ssh' && words.some((word) => word.startsWith(runtime)))

describe('what is left behind', () => {
  test('while it is open: one process, and a folder that nobody else can enter', async () => {
    const connection = await connect()
    await Promise.all([say(connection), say(connection), say(connection)])
    expect(masters()).toHaveLength(1)
    const [folder = ''] = readdirSync(runtime)
    expect(statSync(join(runtime, folder)).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(join(runtime, folder))) {
      const { mode } = statSync(join(runtime, folder, name))
      expect(mode & 0o077, name).toBe(0)
    }
  })

  test('nothing, when it is closed', async () => {
    const transport = openssh()
    const connections = await Promise.all([1, 2, 3].map(() => transport.connect(target())))
    await Promise.all(connections.map((connection) => connection.close()))
    await transport.close()
    expect([readdirSync(runtime), masters()]).toEqual([[], []])
  })

  test('nothing, although drover was killed with connections open and one under way', async () => {
    const program = `
      import { createOpensshTransport } from ${JSON.stringify(pathToFileURL('src/transport/openssh/openssh-transport.ts').href)}
      const [hosts, deadlines] = JSON.parse(process.argv[1])
      const transport = createOpensshTransport({ deadlines, passphrase: () => undefined, env: process.env })
      await transport.connect(hosts[0])
      void transport.connect(hosts[1]).catch(() => undefined)
      console.log('open')
      setInterval(() => undefined, 1_000)`
    const mute = await lab.start()
    mute.freeze()
    const hosts = [target(), target({ port: mute.port })]
    const argv = ['--input-type=module', '-e', program, JSON.stringify([hosts, deadlines])]
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    undo.push(() => child.kill('SIGKILL'))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    await until('two processes', () => masters().length > 0)
    child.kill('SIGKILL')
    await until('no process and no folder', () => masters().length === 0 && readdirSync(runtime).length === 0)
  })

  test('a process that is killed is a lost connection, and its socket is gone', async () => {
    const connection = await connect()
    const running = connection.exec({ command: 'sleep 20', deadlineMs: 30_000, maxBytes: 100 })
    const failure = expect(running).rejects.toMatchObject({ code: 'connection-lost' })
    for (const { pid } of masters()) process.kill(pid, 'SIGKILL')
    await failure
    const [folder = ''] = readdirSync(runtime)
    expect(readdirSync(join(runtime, folder)).sort()).toEqual(['ask', 'askpass'])
  })
})

describe('a jump host whose process is stopped', () => {
  test('is replaced once, for all who come after', async () => {
    const transport = openssh()
    const gate = target({ name: 'gate' })
    const inner = (name: string): Host => target({ name, address: '127.0.0.2', jump: [gate] })
    const first = await transport.connect(inner('first'))
    const gates = masters().filter(({ words }) => !words.some((word) => word.startsWith('ProxyCommand=')))
    expect(gates).toHaveLength(1)
    for (const { pid } of gates) process.kill(pid, 'SIGSTOP')
    const second = await transport.connect(inner('second'))
    expect(await say(second)).toBe('in\n')
    await expect(say(first)).rejects.toMatchObject({ code: 'connection-lost' })
    await second.close()
  }, 40_000)
})

describe('the configuration of the user', () => {
  const configure = (text: string): string => {
    const file = lab.path(`ssh_config.${Math.random()}`)
    writeFileSync(file, text)
    return file
  }

  test('what would make the process another thing than ours is set aside', async () => {
    const sshConfig = configure(
      [
        'Host *',
        'ControlMaster auto',
        `ControlPath ${lab.path('theirs')}`,
        'ControlPersist 600',
        'ForkAfterAuthentication yes',
        'RemoteCommand echo theirs',
        'RequestTTY force',
        'LogLevel QUIET',
        'PermitLocalCommand yes',
        `LocalCommand touch ${lab.path('local-command-ran')}`,
        'LocalForward 127.0.0.1:1 127.0.0.1:2',
        'BatchMode no',
        'StrictHostKeyChecking no',
        'UserKnownHostsFile /dev/null',
        'EscapeChar ~',
      ].join('\n'),
    )
    const connection = await connect(target(), { sshConfig })
    expect(await say(connection)).toBe('in\n')
    expect(readdirSync(lab.directory)).not.toContain('theirs')
    expect(readdirSync(lab.directory)).not.toContain('local-command-ran')
    await expect(connect(target({ knownHostsFiles: ['/dev/null'] }), { sshConfig })).rejects.toMatchObject({
      code: 'host-key-unknown',
    })
  })

  test('its ProxyCommand is the way, for a host that is called as it is there', async () => {
    const script = lab.path('pipe.cjs')
    writeFileSync(
      script,
      `const s = require('node:net').connect(Number(process.argv[3]), process.argv[2]); process.stdin.pipe(s).pipe(process.stdout)`,
    )
    const sshConfig = configure(
      `Host web\n  HostName 127.0.0.1\n  ProxyCommand ${process.execPath} ${script} %h %p\n  HostKeyAlias [127.0.0.1]:${sshd.port}\n`,
    )
    const sshOptions = { destination: 'web', proxyCommand: 'x' }
    expect(await say(await connect(target({ sshOptions }), { sshConfig }))).toBe('in\n')
  })

  test('what is wrong with it is told as such', async () => {
    await expect(connect(target(), { sshConfig: configure('Nonsense yes\n') })).rejects.toMatchObject({
      code: 'ssh-config-invalid',
      detail: expect.stringContaining('Bad configuration option: nonsense'),
    })
  })

  test('is read by ssh as it is meant, with blanks and percent signs in paths', () => {
    const host = fakeHost({
      address: '192.0.2.7',
      user: 'CORP\\ops',
      port: 2200,
      identityFiles: ['/keys/a b%h'],
      knownHostsFiles: ['/known/a b', '/known/c%d'],
      hostKeyAlias: 'web7',
    })
    const keepalive = { intervalMs: 15_000, countMax: 3 }
    const argv = masterArguments({
      host,
      keepalive,
      deadlines,
      controlPath: '/s',
      mayAsk: false,
      hasPassword: false,
      identitiesOnly: true,
    })
    const said = execFileSync('ssh', ['-G', '-F', 'none', ...argv], { encoding: 'utf8', stdio: 'pipe' })
      .replaceAll('%%', '%')
      .split('\n')
    expect(said).toEqual(
      expect.arrayContaining([
        'hostname 192.0.2.7',
        'user CORP\\ops',
        'port 2200',
        'identitiesonly yes',
        'identityfile /keys/a b%h',
        'userknownhostsfile /known/a b /known/c%d',
        'hostkeyalias web7',
        'stricthostkeychecking true',
      ]),
    )
  })

  test('a key whose path has blanks and a percent sign', async () => {
    const file = lab.makeKey('a key%h')
    lab.authorize('a key%h')
    expect(await say(await connect(target({ identityFiles: [file] })))).toBe('in\n')
  })
})

describe('logging in', () => {
  test('with a certificate', async () => {
    const file = lab.makeKey('certified')
    execFileSync('ssh-keygen', ['-q', '-s', lab.path('ca'), '-I', 'ops', '-n', lab.user, `${file}.pub`], {
      stdio: 'pipe',
    })
    expect(await say(await connect(target({ identityFiles: [file] })))).toBe('in\n')
  })

  interface Asking {
    readonly port: number
    readonly answers: string[]
    readonly leaks: () => readonly string[]
  }

  /** A server that wants a password in one way, and looks for it in every process while it is asked. */
  const askingServer = async (way: 'password' | 'keyboard-interactive', prompts = ['Password: ']): Promise<Asking> => {
    const answers: string[] = []
    const leaks: string[] = []
    const clients = new Set<ssh2.Connection>()
    const server = new ssh2.Server({ hostKeys: [readFileSync(lab.path('host_ed25519'))] }, (client) => {
      clients.add(client.on('error', () => undefined))
      const judge = (given: string[], context: ssh2.AuthContext): void => {
        answers.push(...given)
        for (const { words, environment } of processes()) {
          if (`${words.join(' ')}${environment}`.includes('open sesame')) leaks.push(words.join(' '))
        }
        if (given.includes('open sesame')) context.accept()
        else context.reject([way])
      }
      client.on('authentication', (context) => {
        if (context.method === 'password' && way === 'password') judge([context.password], context)
        else if (context.method === 'keyboard-interactive' && way === 'keyboard-interactive')
          context.prompt(
            prompts.map((prompt) => ({ prompt, echo: false })),
            (given) => judge(given, context),
          )
        else context.reject([way])
      })
      client.on('session', (accept) =>
        accept().on('exec', (acceptExec) => {
          const channel = acceptExec()
          channel.write('in\n')
          channel.exit(0)
          channel.end()
        }),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    undo.push(() => {
      for (const client of clients) client.end()
      return new Promise((resolve) => server.close(resolve))
    })
    return { port: (server.address() as AddressInfo).port, answers, leaks: () => leaks }
  }

  test.each(['password', 'keyboard-interactive'] as const)(
    'by %s: the password is in no process, no file and no environment',
    async (way) => {
      const server = await askingServer(way)
      const over = { passwordOf: () => new Secret('open sesame') }
      const connection = await connect(target({ port: server.port, identityFiles: [] }), over)
      expect(await say(connection)).toBe('in\n')
      expect(server.answers).toEqual(['open sesame'])
      expect(server.leaks()).toEqual([])
      const [folder = ''] = readdirSync(runtime)
      for (const name of readdirSync(join(runtime, folder))) {
        if (statSync(join(runtime, folder, name)).isFile())
          expect(readFileSync(join(runtime, folder, name), 'latin1')).not.toContain('open sesame')
      }
    },
  )

  test('a wrong password is tried once', async () => {
    const server = await askingServer('password')
    const over = { passwordOf: () => new Secret('wrong') }
    const failure = await connect(target({ port: server.port, identityFiles: [] }), over).catch((e: DroverError) => e)
    expect(failure).toMatchObject({ code: 'auth-failed', message: expect.stringContaining('refused the password') })
    expect(server.answers).toEqual(['wrong'])
    expect(`${JSON.stringify(failure)}${(failure as DroverError).detail}`).not.toContain('wrong')
  })

  test('without a password nobody is asked, and none is sent', async () => {
    const server = await askingServer('password')
    await expect(connect(target({ port: server.port, identityFiles: [] }))).rejects.toMatchObject({
      code: 'auth-failed',
      message: expect.stringContaining('it takes only password'),
    })
    expect(server.answers).toEqual([])
  })

  test('a code is asked of whoever sits there, and does not get the password', async () => {
    const server = await askingServer('keyboard-interactive', ['Password: ', 'Verification code: '])
    const asked: string[] = []
    const ask = async ({ text }: { text: string }) => {
      asked.push(text)
      return '123456'
    }
    const over = { passwordOf: () => new Secret('open sesame'), ask }
    expect(await say(await connect(target({ port: server.port, identityFiles: [] }), over))).toBe('in\n')
    expect(server.answers).toEqual(['open sesame', '123456'])
    expect(asked).toEqual([`(${lab.user}@127.0.0.1) Verification code: `])
  })
})

describe('a command', () => {
  test('that asks is answered while it runs', async () => {
    const connection = await connect()
    const { stdout } = await connection.exec({
      command: 'printf "name? " >&2; read -r name; echo "hello $name"',
      talk: (input) => ({
        stderr: (chunk) => {
          if (Buffer.from(chunk).includes('name? ')) void input.write(Buffer.from('drover\n')).then(() => input.end())
        },
      }),
      deadlineMs: 10_000,
      maxBytes: 1_000,
    })
    expect(Buffer.from(stdout).toString()).toBe('hello drover\n')
  })
})

describe('the choice of the client', () => {
  const chosen = async (host: Host): Promise<string> => {
    const transport = openssh({ pacer: createPacer() }, createTransport)
    await transport.prepare([host])
    const connection = await transport.connect(host)
    undo.push(() => connection.close())
    expect(await say(connection)).toBe('in\n')
    return masters().length > 0 ? 'openssh' : 'ssh2'
  }

  test('is drover’s own unless something calls for another', async () => {
    expect(await chosen(target())).toBe('ssh2')
    expect(notices).toEqual([])
    expect(await chosen(target({ transport: 'openssh' }))).toBe('openssh')
    expect(notices).toEqual([])
  })

  test('a host key that only an authority vouches for', async () => {
    lab.makeKey('host_ca')
    const certificate = `${lab.path('host_ed25519')}-cert.pub`
    const words = [
      '-q',
      '-s',
      lab.path('host_ca'),
      '-I',
      'host',
      '-h',
      '-n',
      '127.0.0.1',
      `${lab.path('host_ed25519')}.pub`,
    ]
    execFileSync('ssh-keygen', words, { stdio: 'pipe' })
    const certified = await lab.start(`HostCertificate ${certificate}`)
    undo.push(() => certified.stop())
    const file = lab.path('known.authority')
    writeFileSync(file, `@cert-authority * ssh-ed25519 ${lab.publicKey('host_ca')}\n`)
    expect(await chosen(target({ port: certified.port, knownHostsFiles: [file] }))).toBe('openssh')
    expect(notices).toEqual([{ host: 'host-1', message: expect.stringContaining('@cert-authority') }])
  })

  test('a server that has no algorithm in common with drover’s own is tried by ssh, and remembered', async () => {
    const quantum = await lab.start('KexAlgorithms sntrup761x25519-sha512@openssh.com')
    undo.push(() => quantum.stop())
    expect(await chosen(target({ port: quantum.port }))).toBe('openssh')
    expect(notices).toEqual([{ host: 'host-1', message: expect.stringContaining('no algorithm in common') }])
    await expect(
      openssh({}, createTransport).connect(target({ port: quantum.port, transport: 'ssh2' })),
    ).rejects.toMatchObject({ code: 'handshake-failed' })
  })

  test('a way is gone by one client: a hop that calls for ssh calls for it on the whole way', async () => {
    const gate = target({ name: 'gate', sshOptions: { destination: '127.0.0.1', pkcs11Provider: 'none' } })
    expect(await chosen(target({ address: '127.0.0.2', jump: [gate] }))).toBe('openssh')
    expect(notices[0]?.message).toContain('jump host gate')
  })

  test('without a client it is said before any host is touched', async () => {
    const path = process.env.PATH
    process.env.PATH = lab.directory
    undo.push(() => {
      process.env.PATH = path
    })
    await expect(openssh({}, createTransport).prepare([target({ transport: 'openssh' })])).rejects.toMatchObject({
      code: 'ssh-client-unusable',
      remedy: expect.stringContaining('--transport ssh2'),
    })
  })
})
