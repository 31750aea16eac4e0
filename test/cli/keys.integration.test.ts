import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createSshLab, type Sshd, type SshLab } from '../transport/sshd.ts'
import { drover, type World } from './harness.ts'

let lab: SshLab
let one: Sshd
let two: Sshd

beforeAll(async () => {
  lab = createSshLab()
  ;[one, two] = await Promise.all([lab.start(), lab.start()])
})
afterAll(() => lab?.stop())

const kinds = ['ed25519', 'ecdsa', 'rsa'] as const
const typeOf = { ed25519: 'ssh-ed25519', ecdsa: 'ecdsa-sha2-nistp256', rsa: 'ssh-rsa' } as const
const keyOf = (kind: (typeof kinds)[number]): string => `${typeOf[kind]} ${lab.publicKey(`host_${kind}`)}`
const fingerprintOf = (kind: string): string =>
  execFileSync('ssh-keygen', ['-lf', lab.path(`host_${kind}.pub`)], { encoding: 'utf8' }).split(' ')[1] ?? ''
const lineFor = (port: number, kind: (typeof kinds)[number]): string => `[127.0.0.1]:${port} ${keyOf(kind)}\n`

const inventory = (hosts: object): string =>
  stringify({ user: lab.user, identity_file: lab.keyFile, known_hosts: 'known_hosts', hosts })
const at = (sshd: Sshd, more: object = {}): object => ({ address: '127.0.0.1', port: sshd.port, ...more })

const scan = (args: readonly string[], hosts: object, world: World = {}) =>
  drover(['keys', 'scan', '-i', 'hosts.yaml', ...args], {
    ...world,
    files: { 'hosts.yaml': inventory(hosts), ...world.files },
  })
const knownIn = ({ cwd }: { cwd: string }): string => readFileSync(join(cwd, 'known_hosts'), 'utf8')

test('shows every kind of key once, with what known_hosts says, and writes nothing', async () => {
  const ran = await scan([], { a: at(one), b: at(two) }, { files: { known_hosts: lineFor(two.port, 'rsa') } })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const rows = ran.stdout.trimEnd().split('\n')
  expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
    ['HOST', 'ADDRESS', 'TYPE', 'FINGERPRINT', 'STATE'],
    ...kinds.map((kind) => ['a', `127.0.0.1:${one.port}`, typeOf[kind], fingerprintOf(kind), 'NEW']),
    ...kinds.map((kind) => [
      'b',
      `127.0.0.1:${two.port}`,
      typeOf[kind],
      fingerprintOf(kind),
      kind === 'rsa' ? 'known' : 'NEW',
    ]),
    ['2 hosts: 6 keys, 1 known, 5 new'],
  ])
  expect(knownIn(ran)).toBe(lineFor(two.port, 'rsa'))
})

describe('--write', () => {
  test('asks once for all keys, and then drover knows the hosts', async () => {
    const ran = await scan(['--write'], { a: at(one), b: at(two) }, { answers: ['perhaps', 'yes'] })
    const file = join(ran.cwd, 'known_hosts')
    const question = `write 6 new keys to ${file}? yes/no: `
    expect(ran).toMatchObject({ code: 0, questions: [question, question] })
    expect(ran.stderr).toBe(`drover: wrote 6 keys to ${file}\n`)
    expect(knownIn(ran)).toBe([one, two].flatMap(({ port }) => kinds.map((kind) => lineFor(port, kind))).join(''))
    execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${two.port}`, '-f', file], { stdio: 'ignore' })
  })

  test.each(['no', ''])('the answer %j writes nothing', async (answer) => {
    const ran = await scan(['--write'], { a: at(one) }, { answers: [answer], files: { known_hosts: '' } })
    expect(ran).toMatchObject({ code: 0, stderr: 'drover: nothing was written\n' })
    expect(knownIn(ran)).toBe('')
  })

  test('without a terminal it needs --yes, and says so before it connects to anything', async () => {
    const refused = await scan(['--write'], { a: at(one) })
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toContain('--write --yes')
    const written = await scan(['--write', '--yes'], { a: at(one) })
    expect(knownIn(written)).toBe(kinds.map((kind) => lineFor(one.port, kind)).join(''))
    expect(await scan(['--yes'], { a: at(one) })).toMatchObject({ code: 5, stdout: '' })
  })

  test('names are hashed where all others in the file are', async () => {
    const known = '|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|AAAAAAAAAAAAAAAAAAAAAAAAAAA= '
    const ran = await scan(
      ['--write', '--yes'],
      { a: at(one) },
      { files: { known_hosts: `${known}${keyOf('rsa')}\n` } },
    )
    expect(ran.stderr).toContain('wrote 3 keys')
    expect(knownIn(ran)).not.toContain('127.0.0.1')
    execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${one.port}`, '-f', join(ran.cwd, 'known_hosts')], {
      stdio: 'ignore',
    })
  })

  test('a host that has changed gets no key at all, and the old line is named with the command that removes it', async () => {
    const old = `# comment\n[127.0.0.1]:${one.port} ssh-ed25519 ${lab.publicKey('user')}\n`
    const ran = await scan(['--write', '--yes'], { a: at(one), b: at(two) }, { files: { known_hosts: old } })
    const file = join(ran.cwd, 'known_hosts')
    expect(ran.code).toBe(2)
    expect(ran.stdout.match(/ CHANGED$/gm)).toHaveLength(3)
    expect(ran.stdout).toContain(`known: ssh-ed25519 ${fingerprintFor('user')} in ${file}:2`)
    expect(ran.stdout).toContain(`\`ssh-keygen -R '[127.0.0.1]:${one.port}' -f '${file}'\``)
    expect(knownIn(ran)).toBe(old + kinds.map((kind) => lineFor(two.port, kind)).join(''))
  })

  test('by an alias the key is written under the alias alone', async () => {
    const ran = await scan(['--write', '--yes'], { a: at(one, { host_key_alias: 'fleet-a' }) })
    expect(knownIn(ran)).toBe(kinds.map((kind) => `fleet-a ${keyOf(kind)}\n`).join(''))
  })
})

const fingerprintFor = (name: string): string =>
  execFileSync('ssh-keygen', ['-lf', lab.path(`${name}.pub`)], { encoding: 'utf8' }).split(' ')[1] ?? ''

test('a revoked key is told, and exit 2', async () => {
  const ran = await scan([], { a: at(one) }, { files: { known_hosts: `@revoked ${lineFor(one.port, 'ecdsa')}` } })
  expect(ran.code).toBe(2)
  expect(ran.stdout).toMatch(/ecdsa-sha2-nistp256 .* REVOKED$/m)
  expect(ran.stdout).toContain('[host-key-revoked]')
})

test('hosts that are away are rows with the reason, and exit 4', async () => {
  const ran = await scan(['-T', '1'], { a: at(one), gone: { address: '127.0.0.1', port: 1 } })
  expect(ran.code).toBe(4)
  expect(ran.stdout).toMatch(/^gone +127\.0\.0\.1:1 +- +- +unreachable$/m)
  expect(ran.stdout).toMatch(/^gone: .*refused.*\[connect-failed\]$/m)
  expect(ran.stdout).toContain('2 hosts: 3 keys, 0 known, 3 new; 1 unreachable')
})

test('a jump host is scanned as well, and nobody logs in to it before it is known', async () => {
  const hosts = { gate: at(one), inner: at(two, { jump: ['gate'] }) }
  const before = await scan([], { ...hosts })
  expect(before.code).toBe(4)
  expect(before.stdout).toContain('inner: Its jump host gate is not known yet. [host-key-unknown]')
  expect(before.stdout.match(/^gate .* NEW$/gm)).toHaveLength(3)

  const ran = await scan([], hosts, { files: { known_hosts: lineFor(one.port, 'ed25519') } })
  expect(ran.code, ran.stdout).toBe(0)
  expect(ran.stdout.match(/^inner .* NEW$/gm)).toHaveLength(3)
})

test('-o json has the same, with null for what is not known', async () => {
  const ran = await scan(['-o', 'json'], { a: at(one) }, { files: { known_hosts: lineFor(one.port, 'rsa') } })
  expect(JSON.parse(ran.stdout)).toEqual({
    schemaVersion: 1,
    hosts: [
      {
        host: 'a',
        address: '127.0.0.1',
        port: one.port,
        jump: [],
        keys: kinds.map((kind) => ({
          type: typeOf[kind],
          fingerprint: fingerprintOf(kind),
          state: kind === 'rsa' ? 'known' : 'new',
          known: [],
        })),
        error: null,
      },
    ],
  })
})

test('there is nothing to write into /dev/null', async () => {
  const ran = await scan(['--write', '--yes', '--known-hosts', '/dev/null'], { a: at(one) })
  expect(ran).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('nowhere to write') })
})

test('a file that cannot be written is an error with a remedy', async () => {
  const ran = await scan(['--write', '--yes', '--known-hosts', '/dev/null/known_hosts'], { a: at(one) })
  expect(ran.stderr).toMatch(/cannot be written to \/dev\/null\/known_hosts: .*\[known-hosts-unreadable\]/)
  expect(ran.code).toBe(5)
})
