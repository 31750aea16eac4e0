import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorReport } from '../../src/runner/events.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { type DroverOptions, drover } from '../support/drover.ts'
import { addUser, addUsers, hostsFile, knowPorts, startSshd } from '../support/sshd.ts'

/** Story: every way to be let in, and what is said where one is not: passwords, second factors, ssh-agent, certificates. */

const password = "Xq7 it's-the \\password 9Zk"
const users = ['ann', 'ben', 'cat', 'dan', 'eve', 'fay'] as const
/** Its password has expired. */
const expired = 'old'
const names = [...users, expired]
/** sshds of one host; the first value of a keyword counts. */
const sshds = {
  passwords: { port: 2201, lines: ['PasswordAuthentication yes', 'PubkeyAuthentication no'] },
  keyboard: { port: 2202, lines: ['KbdInteractiveAuthentication yes', 'PubkeyAuthentication no'] },
  keyThenPassword: {
    port: 2203,
    lines: ['PasswordAuthentication yes', 'AuthenticationMethods publickey,password'],
  },
  keyThenKeyboard: {
    port: 2204,
    lines: ['KbdInteractiveAuthentication yes', 'AuthenticationMethods publickey,keyboard-interactive'],
  },
  authority: { port: 2205, lines: ['TrustedUserCAKeys /etc/ssh/story_ca.pub', 'AuthorizedKeysFile none'] },
} as const
type Way = keyof typeof sshds
/** Each user is a host of its own, which two at one port would not be. */
const portOf = (way: Way, name: string): number => sshds[way].port + 10 * names.indexOf(name)

let lab: Lab
let server: LabHost
const path = (name: string): string => join(lab.folder, name)
const keygen = (...args: readonly string[]): void => void execFileSync('ssh-keygen', ['-q', ...args], { stdio: 'pipe' })

beforeAll(async () => {
  lab = await openLab('transport-login', { yes: true })
  server = await lab.boot({ name: 'server', image: 'ubuntu-like' })
  keygen('-t', 'ed25519', '-N', '', '-C', 'ca', '-f', path('ca'))
  await server.put('/etc/ssh/story_ca.pub', readFileSync(path('ca.pub'), 'utf8'))
  await addUsers(
    lab,
    server,
    names.map((name) => ({ name, password })),
  )
  await server.must('chage -d 0 "$1"', [expired])
  for (const way of Object.keys(sshds) as Way[]) {
    const { port, lines } = sshds[way]
    const others = names.slice(1).map((name) => `Port ${portOf(way, name)}`)
    await startSshd(server, { port, lines: [...lines, ...others, 'PerSourcePenalties no'] })
  }
  const ports = (Object.keys(sshds) as Way[]).flatMap((way) => names.map((name) => portOf(way, name)))
  await knowPorts(lab, server, ports)
  writeFileSync(path('password'), `${password}\n`, { mode: 0o600 })
})

afterAll(() => lab?.close())

/** One host for each user, all of them at one sshd. */
const hostsAt = (way: Way, some: readonly string[], more: object = {}): string =>
  hostsFile(lab, `${way}-${some.join('-')}-${Object.keys(more).join('-')}`, entries(way, some, more))

const entries = (way: Way, some: readonly string[], more: object = {}, prefix = ''): Record<string, object> =>
  Object.fromEntries(
    some.map((user) => [prefix + user, { address: server.address, port: portOf(way, user), user, ...more }]),
  )

/** One host for each user at each sshd, named WAY-USER: a row of ways in one run. */
const hostsAtEach = (ways: readonly Way[], some: readonly string[]): string => {
  const hosts = ways.map((way) => entries(way, some, {}, `${way}-`))
  return hostsFile(lab, `${ways.join('-')}-${some.join('-')}`, Object.assign({}, ...hosts))
}

interface Row {
  readonly host: string
  readonly status: object | null
  readonly error: ErrorReport | null
}

/** Errors by host, null where it was let in; the password is nowhere in what was printed. */
const lookAt = async (
  inventory: string,
  args: readonly string[] = [],
  options: DroverOptions = {},
): Promise<{ errors: Record<string, ErrorReport | null>; stderr: string }> => {
  const end = await drover(lab, ['status', '-o', 'json', ...args], { ...options, inventory })
  expect(end.stdout + end.stderr).not.toContain(password)
  if (end.stdout === '') throw new Error(`drover ended with ${end.code}: ${end.stderr}`)
  const { hosts } = JSON.parse(end.stdout) as { hosts: Row[] }
  return { errors: Object.fromEntries(hosts.map(({ host, error }) => [host, error])), stderr: end.stderr }
}

const allIn = (names: readonly string[]) => ({ errors: Object.fromEntries(names.map((name) => [name, null])) })

/** What sshd says of a wrong password, by either method. */
const refusedWords = 'Failed password\\|PAM: Authentication failure'

/** How often this sshd has said so since the last look. */
const counter = async (way: Way, words: string): Promise<() => Promise<number>> => {
  const count = async (): Promise<number> =>
    Number(
      await server.must('journalctl -q -o cat -u "sshd-$1" | grep -c -- "$2" || :', [String(sshds[way].port), words]),
    )
  const before = await count()
  return async () => (await count()) - before
}

const startAgent = async (...keys: readonly string[]): Promise<{ socket: string; stop: () => void }> => {
  const socket = path(`agent-${readdirSync(lab.folder).length}`)
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
  const env = { ...process.env, SSH_AUTH_SOCK: socket }
  await until('ssh-agent', 10_000, async () => {
    try {
      for (const key of keys) execFileSync('ssh-add', ['-q', key], { env, stdio: 'ignore' })
      return true
    } catch {
      return undefined
    }
  })
  return { socket, stop: () => void child.kill() }
}

describe.each(['ssh2', 'openssh'])('over %s', (transport) => {
  const over = ['--transport', transport]
  const env = { DROVER_SSH_PASSWORD: password }

  test('the password of the environment lets all hosts in, whether it is asked for at once, after a key, or by PAM', async () => {
    const ways = ['passwords', 'keyboard', 'keyThenPassword', 'keyThenKeyboard'] as const
    const some = users.slice(0, 3)
    const failures = await Promise.all(ways.map((way) => counter(way, refusedWords)))
    const all = ways.flatMap((way) => some.map((user) => `${way}-${user}`))
    expect(await lookAt(hostsAtEach(ways, some), over, { env })).toMatchObject(allIn(all))
    expect(await Promise.all(failures.map((count) => count()))).toEqual([0, 0, 0, 0])
  })

  test("a file holds it, and a host's own comes first", async () => {
    const inventory = hostsAt('passwords', users.slice(0, 2))
    const file = [...over, '--connection-password-file', 'password']
    expect(await lookAt(inventory, file)).toMatchObject(allIn(users.slice(0, 2)))
    const own = hostsAt('passwords', users.slice(2, 4), { password: { secret: { env: 'MINE' } } })
    const wrong = { DROVER_SSH_PASSWORD: 'not this one', MINE: password }
    expect(await lookAt(own, over, { env: wrong })).toMatchObject(allIn(users.slice(2, 4)))
  })

  test('without a password the error says that one would do, and how to give it', async () => {
    const { errors } = await lookAt(hostsAtEach(['passwords', 'keyThenPassword'], ['ann']), over)
    for (const name of ['passwords-ann', 'keyThenPassword-ann'])
      expect(errors[name]).toMatchObject({ code: 'auth-failed', remedy: expect.stringContaining('-k') })
  })

  test('an expired password is an error and no hang', async () => {
    for (const way of ['passwords', 'keyboard'] as const) {
      const { errors } = await lookAt(hostsAt(way, [expired]), over, { env })
      // A hang would be ended by a deadline, which says so.
      expect(errors[expired]?.message).not.toMatch(/within \d+ /)
      // What ssh is asked by way of PAM it does not tell from a wrong password.
      if (transport === 'openssh' && way === 'keyboard') expect(errors[expired]?.code).toBe('auth-failed')
      else expect(`${errors[expired]?.message} ${errors[expired]?.detail}`, way).toMatch(/expired|change required/i)
    }
  })

  test('an account that PAM does not let in is told from a key that is wrong', async () => {
    await addUser(lab, server, { name: 'gone' })
    await server.must('chage -E 0 gone')
    const inventory = hostsFile(lab, 'gone', { gone: { address: server.address, user: 'gone' } })
    const { errors } = await lookAt(inventory, over)
    expect(errors.gone).toMatchObject({
      code: 'auth-failed',
      message: expect.stringContaining('PAM refuses the account'),
      detail: expect.stringContaining('account has expired'),
    })
  })

  test('a certificate beside its key', async () => {
    const key = path(`signed-${transport}`)
    keygen('-t', 'ed25519', '-N', '', '-C', 'signed', '-f', key)
    keygen('-s', path('ca'), '-I', 'story', '-n', 'ann,ben', '-V', '-1h:+1h', `${key}.pub`)
    const { errors } = await lookAt(hostsAt('authority', ['ann', 'ben', 'cat'], { identity_file: key }), over)
    expect(errors).toMatchObject({ ann: null, ben: null, cat: { code: 'auth-failed' } })
    if (transport === 'ssh2') expect(errors.cat?.remedy).toContain('is for ann, ben, and the user is cat')
  })

  test('of seven keys in ssh-agent the one that is named is offered first', async () => {
    const strangers = [1, 2, 3, 4, 5, 6].map((index) => path(`stranger-${transport}-${index}`))
    for (const key of strangers) keygen('-t', 'ed25519', '-N', '', '-C', 'stranger', '-f', key)
    const agent = await startAgent(...strangers, lab.key.file)
    try {
      writeFileSync(path('lab.pub'), lab.key.authorizedLine)
      const named = hostsFile(lab, `named-${transport}`, {
        ...entries('keyThenPassword', ['ann'], { identity_file: path('lab.pub') }),
        ...entries('keyThenPassword', ['ben'], { identity_file: lab.key.file }),
      })
      const ended = await lookAt(named, over, { env: { ...env, SSH_AUTH_SOCK: agent.socket } })
      expect(ended).toMatchObject(allIn(['ann', 'ben']))
    } finally {
      agent.stop()
    }
  })
})

describe.each(['ssh2', 'openssh'])('a wrong password over %s', (transport) => {
  const over = ['--transport', transport]
  const env = { DROVER_SSH_PASSWORD: 'mistyped-0815' }

  test.each(['passwords', 'keyboard'] as const)(
    '%s: is tried at two hosts, once each, and at no other',
    async (way) => {
      const failures = await counter(way, refusedWords)
      const { errors } = await lookAt(hostsAt(way, users, { user: 'ann' }), over, { env })
      const all = Object.values(errors)
      expect(all.map((error) => error?.code)).toEqual(users.map(() => 'auth-failed'))
      expect(all.filter((error) => /it refused .*the password/.test(error?.message ?? ''))).toHaveLength(2)
      expect(all.filter((error) => error?.message.includes('was not tried'))).toHaveLength(users.length - 2)
      expect(await failures()).toBe(2)
    },
  )

  test('of one host alone keeps no other out', async () => {
    await server.must('printf "ann:another-one\\n" | chpasswd')
    try {
      const { errors } = await lookAt(hostsAt('passwords', users), over, { env: { DROVER_SSH_PASSWORD: password } })
      expect(errors).toMatchObject({ ...allIn(users.slice(1)).errors, ann: { code: 'auth-failed' } })
      expect(errors.ann?.message).toMatch(/refused .*the password/)
    } finally {
      await server.must('printf "ann:%s\\n" "$(cat)" | chpasswd', [], { stdin: password })
    }
  })
})

test('without a terminal -k ends with 5 before any host is touched, and a file for all to read is refused', async () => {
  const logins = await counter('passwords', 'Connection')
  const inventory = hostsAt('passwords', ['ann'])
  writeFileSync(path('open-password'), password, { mode: 0o644 })
  const open = await drover(lab, ['status', '--connection-password-file', 'open-password'], { inventory })
  expect([open.code, open.stderr]).toEqual([5, expect.stringContaining('Everybody on this machine may read')])
  expect(await logins()).toBe(0)
})
