import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Real OpenSSH servers on loopback, each with its own configuration and host keys, in a directory of their own.
 * Needs /usr/sbin/sshd (Debian: openssh-server) and its directory for privilege separation, /run/sshd.
 */
export interface SshLab {
  readonly directory: string
  readonly user: string
  /** An ed25519 key that every server lets in. */
  readonly keyFile: string
  path(name: string): string
  /** Makes a key pair and returns the path of the private one. */
  makeKey(name: string, options?: { type?: string; passphrase?: string }): string
  /** The base64 blob of a public key file made by `makeKey`. */
  publicKey(name: string): string
  authorize(name: string): void
  /** The same key, its file closed with a passphrase. */
  encryptedCopy(of: string, name: string, passphrase: string): string
  startAgent(): Promise<Agent>
  start(config?: string): Promise<Sshd>
  stop(): Promise<void>
}

export interface Sshd {
  readonly port: number
  /** Halts the processes that speak for its connections: the kernel still answers, they do not. */
  freeze(): void
  stop(): Promise<void>
}

interface Agent {
  readonly socket: string
  add(keyFile: string): void
  stop(): Promise<void>
}

const sshdPath = '/usr/sbin/sshd'
const hostKeyNames = ['host_ed25519', 'host_rsa', 'host_ecdsa'] as const

export const createSshLab = (): SshLab => {
  if (!existsSync(sshdPath)) throw new Error(`${sshdPath} is missing: install openssh-server`)
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const directory = mkdtempSync(join(tmpdir(), 'drover-sshd-'))
  chmodSync(directory, 0o755)
  const path = (name: string): string => join(directory, name)
  const running: Sshd[] = []
  let agentCount = 0

  const makeKey = (name: string, { type = 'ed25519', passphrase = '' } = {}): string => {
    const bits = type === 'rsa' ? ['-b', '2048'] : []
    execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', passphrase, '-C', name, '-f', path(name)])
    return path(name)
  }
  const publicKey = (name: string): string => readFileSync(path(`${name}.pub`), 'utf8').split(' ')[1] ?? ''
  const authorize = (name: string): void => {
    writeFileSync(path('authorized_keys'), readFileSync(path(`${name}.pub`)), { flag: 'a', mode: 0o644 })
  }

  makeKey('host_ed25519')
  makeKey('host_rsa', { type: 'rsa' })
  makeKey('host_ecdsa', { type: 'ecdsa' })
  const keyFile = makeKey('user')
  authorize('user')

  const start = async (config = ''): Promise<Sshd> => {
    const port = await freePort()
    const file = path(`sshd_config.${port}`)
    const lines = [
      // The first value of a keyword counts, so the test's own come first.
      config,
      `ListenAddress 127.0.0.1:${port}`,
      `ListenAddress 127.0.0.2:${port}`,
      ...hostKeyNames.map((name) => `HostKey ${path(name)}`),
      `AuthorizedKeysFile ${path('authorized_keys')}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      // Of this keyword alone sshd takes the last value.
      ...(config.includes('MaxStartups') ? [] : ['MaxStartups 100']),
      // Tests that fail logins on purpose would shut out all that come after them (OpenSSH 9.8 and later).
      ...(hasPenalties() ? ['PerSourcePenalties no'] : []),
      // The startup files of whoever runs the tests are no part of them.
      `SetEnv HOME=${directory}`,
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    const child = spawn(sshdPath, ['-D', '-e', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
    await untilListening(child)
    const frozen: number[] = []
    const freeze = (): void => {
      frozen.push(...descendantsOf(child.pid as number))
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    }
    const stop = async (): Promise<void> => {
      for (const pid of frozen.splice(0)) killIfThere(pid)
      await stopChild(child)
    }
    const sshd = { port, freeze, stop }
    running.push(sshd)
    return sshd
  }

  const encryptedCopy = (of: string, name: string, passphrase: string): string => {
    copyFileSync(path(of), path(name))
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', passphrase, '-f', path(name)])
    return path(name)
  }

  const startAgent = async (): Promise<Agent> => {
    agentCount += 1
    const socket = path(`agent.${agentCount}`)
    const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
    const env = { ...process.env, SSH_AUTH_SOCK: socket }
    // 1: it answers, and holds nothing. 2: nobody answers.
    for (let tries = 0; spawnSync('ssh-add', ['-l'], { env }).status !== 1; tries += 1) {
      if (tries > 1000) throw new Error('ssh-agent does not answer')
      await sleep(5)
    }
    const add = (file: string) => {
      execFileSync('ssh-add', ['-q', file], { env, stdio: 'ignore' })
    }
    return { socket, add, stop: () => stopChild(child) }
  }

  const stop = async (): Promise<void> => {
    await Promise.all(running.map((sshd) => sshd.stop()))
    rmSync(directory, { recursive: true, force: true })
  }

  return {
    directory,
    user: userInfo().username,
    keyFile,
    path,
    makeKey,
    publicKey,
    authorize,
    encryptedCopy,
    startAgent,
    start,
    stop,
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (address !== null && typeof address === 'object' ? resolve(address.port) : reject()))
    })
  })

const untilListening = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.split('Server listening on').length > 2) resolve()
    })
    child.on('exit', (code) => reject(new Error(`sshd ended with ${code}: ${log}`)))
  })

const descendantsOf = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await Promise.race([ended, sleep(2_000).then(() => child.kill('SIGKILL'))])
}

const hasPenalties = (): boolean =>
  !/bad configuration option/i.test(
    spawnSync(sshdPath, ['-t', '-f', '/dev/null', '-o', 'PerSourcePenalties=no'], { encoding: 'utf8' }).stderr,
  )

/** One that was let go by its own end is no fault of the test. */
const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}
