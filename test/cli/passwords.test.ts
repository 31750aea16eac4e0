import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { becomeWith } from '../../src/cli/become.ts'
import { createPasswords, type PasswordOptions } from '../../src/cli/passwords.ts'
import type { Host } from '../../src/inventory/host.ts'
import { fakeHost } from '../transport/fake-host.ts'
import { drover } from './harness.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'drover-passwords-'))
  const files = { login: 'from file\n', sudo: 'sudo file\r\n', open: 'x\n', lines: 'a\nb\n', empty: '\n' }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text, { mode: 0o600 })
  chmodSync(join(cwd, 'open'), 0o644)
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const deploy = fakeHost({ user: 'deploy', become: true })

interface Given extends PasswordOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly answers?: readonly string[]
}

/** The passwords of one host as they were had, and what was asked. */
const passwordsOf = async ({ env = {}, answers, ...options }: Given, hosts: readonly Host[] = [deploy]) => {
  const asked: string[] = []
  const ask = async ({ text }: { text: string }): Promise<string | null> => {
    if (answers === undefined) return null
    asked.push(text)
    return answers[asked.length - 1] ?? 'asked too often'
  }
  const passwords = createPasswords({ cwd, env, ask }, options)
  passwords.read(hosts)
  await passwords.ask()
  return {
    asked,
    all: passwords.all().map((secret) => secret.reveal()),
    of: hosts.map((host) => [passwords.passwordOf(host)?.reveal(), becomeWith(passwords)(host)?.password?.reveal()]),
  }
}

const env = { DROVER_SSH_PASSWORD: 'login env', DROVER_BECOME_PASSWORD: 'sudo env' }
const own = fakeHost({ ...deploy, password: { env: 'MINE' }, becomePassword: { env: 'MY_SUDO' } })
const ownEnv = { MINE: 'own login', MY_SUDO: 'own sudo' }

test.each<[string, Given, Host, unknown[], string[]]>([
  ['nothing given', {}, deploy, [undefined, undefined], []],
  ['the environment', { env }, deploy, ['login env', 'sudo env'], []],
  ['an empty variable is none', { env: { DROVER_SSH_PASSWORD: '' } }, deploy, [undefined, undefined], []],
  [
    'files before the environment',
    { env, connectionPasswordFile: 'login', becomePasswordFile: 'sudo' },
    deploy,
    ['from file', 'sudo file'],
    [],
  ],
  [
    'asking before the environment',
    { env, askPass: true, askBecomePass: true, answers: ['typed', 'sudo typed'] },
    deploy,
    ['typed', 'sudo typed'],
    ['Login password: ', 'Password to become root [the login password]: '],
  ],
  [
    'an empty answer for root',
    { askPass: true, askBecomePass: true, answers: ['typed', ''] },
    deploy,
    ['typed', 'typed'],
    ['Login password: ', 'Password to become root [the login password]: '],
  ],
  [
    'the login password of the environment for root',
    { env, askBecomePass: true, answers: [''] },
    deploy,
    ['login env', 'login env'],
    ['Password to become root [the login password]: '],
  ],
  ["the host's own before all", { env: { ...env, ...ownEnv } }, own, ['own login', 'own sudo'], []],
  [
    'nobody is asked for what every host has',
    { env: ownEnv, askPass: true, askBecomePass: true, answers: [] },
    own,
    ['own login', 'own sudo'],
    [],
  ],
  ['root needs no password to become root', { env }, fakeHost({ become: true }), ['login env', undefined], []],
])('%s', async (_, given, host, expected, asked) => {
  const had = await passwordsOf(given, [host])
  expect(had.of).toEqual([expected])
  expect(had.asked).toEqual(asked)
  for (const password of expected) if (password !== undefined) expect(had.all).toContain(password)
})

test('one answer serves all hosts, jump hosts too', async () => {
  const jump = fakeHost({ name: 'jump', user: 'hop' })
  const hosts = [deploy, { ...own, jump: [jump] }, fakeHost({ name: 'third', jump: [jump] })]
  const had = await passwordsOf({ env: ownEnv, askPass: true, answers: ['typed'] }, hosts)
  expect(had.asked).toHaveLength(1)
  expect(had.of).toEqual([
    ['typed', undefined],
    ['own login', 'own sudo'],
    ['typed', undefined],
  ])
  const wants = fakeHost({ ...own, jump: [jump] })
  expect((await passwordsOf({ env: ownEnv, askPass: true, answers: ['typed'] }, [wants])).asked).toHaveLength(1)
})

test.each<[string, Given, Host, string, RegExp]>([
  ['no terminal', { askPass: true }, deploy, 'usage', /no terminal/],
  ['an empty answer', { askPass: true, answers: [''] }, deploy, 'usage', /empty/],
  [
    'an empty answer for root where there is no other',
    { askBecomePass: true, answers: [''] },
    deploy,
    'usage',
    /empty/,
  ],
  ['-K for nobody', { askBecomePass: true, answers: ['x'] }, fakeHost({ become: false }), 'usage', /No host .* root/],
  ['a file for all to read', { connectionPasswordFile: 'open' }, deploy, 'usage', /Everybody/],
  ['a file of two lines', { connectionPasswordFile: 'lines' }, deploy, 'usage', /more than the one line/],
  ['an empty file', { becomePasswordFile: 'empty' }, deploy, 'usage', /empty/],
  ['no such file', { becomePasswordFile: 'absent' }, deploy, 'usage', /ENOENT/],
  ['a variable that is not set', {}, own, 'inventory-invalid', /"MINE".*not set.*It is for host-1\.\n.*"MY_SUDO"/],
])('%s is said before any host is touched', async (_, given, host, code, message) => {
  await expect(passwordsOf(given, [host])).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
})

test('a password that many hosts lack is one fault', async () => {
  const hosts = ['a', 'b', 'c'].map((name) => fakeHost({ ...own, name, become: false }))
  await expect(passwordsOf({}, hosts)).rejects.toMatchObject({
    message: 'The environment variable "MINE" of a secret is not set. It is for a and 2 more.',
  })
})

test('the command line asks only when all else is in order, and ends with 5 where nobody answers', async () => {
  const wrong = await drover(['run', 'remediate', '-i', 'web1,', '-k', '-e', 'nonsense=1'], { answers: ['typed'] })
  expect(wrong).toMatchObject({ code: 5, questions: [] })
  const files = { known_hosts: '' }
  for (const verb of [['run', 'remediate'], ['status']]) {
    const alone = await drover([...verb, '-i', 'web1,', '-k', '--known-hosts', 'known_hosts'], { files })
    expect(alone).toMatchObject({ code: 5, connects: [], stderr: expect.stringContaining('no terminal') })
    const both = await drover([...verb, '-i', 'web1,', '-k', '--connection-password-file', 'x'], { files })
    expect(both).toMatchObject({ code: 5, connects: [], stderr: expect.stringContaining('--ask-pass') })
  }
})

test('a password that comes back in an error is not shown', async () => {
  const password = 'Xq7-password-9Zk'
  const files = { known_hosts: '' }
  const hosts = { web1: new Error(`odd: ${password}`) }
  for (const verb of [['run', 'remediate'], ['status'], ['status', '-o', 'json']]) {
    const args = [...verb, '-i', 'web1,', '-kv', '--known-hosts', 'known_hosts']
    const ran = await drover(args, { files, hosts, answers: [password] })
    expect(ran.connects).toEqual(['web1'])
    expect(ran.stdout + ran.stderr).toContain('odd: [secret]')
    expect(ran.stdout + ran.stderr).not.toContain(password)
  }
})
