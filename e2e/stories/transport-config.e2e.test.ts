import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, type DroverOptions, drover } from '../support/drover.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { addUser, startSshd } from '../support/sshd.ts'

/** Story: an inventory of bare names. Everything else stands in ssh_config, as it does for ssh. */

let lab: Lab
let host: LabHost

/** Ports of the next sshd and the last one. Their address is the loopback of the host: from outside it leads nowhere. */
const inner = 2201
const last = 2202

beforeAll(async () => {
  lab = await openLab('transport-config', { yes: true })
  host = await lab.boot({ name: 'a', image: 'ubuntu-like' })
  await host.must('ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/last_key')
  // A user that is refused on purpose must not shut out those that follow.
  await startSshd(host, { port: inner, lines: ['PerSourcePenalties no'] })
  await startSshd(host, { port: last, lines: ['HostKey /etc/ssh/last_key', 'PerSourcePenalties no'] })
  for (const name of ['outer', 'middle', 'deploy']) await addUser(lab, host, { name })
})

afterAll(() => lab?.close())

const key = async (path: string): Promise<string> => {
  const [type = '', blob = ''] = (await host.must('cat "$1"', [path])).split(' ')
  return `${type} ${blob}`
}

const config = (more = ''): string => {
  const file = join(lab.folder, 'ssh_config')
  writeFileSync(
    file,
    `${more}
Host outer-gate
  HostName ${host.address}
  User outer
  ProxyJump none
Host inner-gate
  HostName 127.0.0.1
  Port ${inner}
  User middle
  ProxyJump none
  HostKeyAlias the-inner-gate
Host deep
  HostName 127.0.0.1
  Port ${last}
  User deploy
  HostKeyAlias the-deep-one
  StrictHostKeyChecking accept-new
Host deep*
  ProxyJump outer-gate,inner-gate
Host *
  IdentityFile ${lab.key.file}
  IdentitiesOnly yes
  UserKnownHostsFile ${join(lab.folder, 'fleet_hosts')}
  GlobalKnownHostsFile none
`,
  )
  return file
}

/** What is known from the start: both gates, each by the name that its key is looked up by. */
const knownHosts = async (): Promise<string> => {
  const file = join(lab.folder, 'fleet_hosts')
  const own = await key('/etc/ssh/ssh_host_ed25519_key.pub')
  writeFileSync(file, `${host.address} ${own}\nthe-inner-gate ${own}\n`)
  return file
}

const inventory = (hosts: object, name = 'names'): string => {
  const file = join(lab.folder, `${name}.yaml`)
  writeFileSync(file, stringify({ hosts }))
  return file
}

/** A look that any user may have: what is told here is how drover gets there. */
const run = (args: readonly string[], options: DroverOptions = {}): Promise<DroverEnd> => {
  const playbook = writePlaybook(lab, 'look', [file('look', '/tmp/looked', 'at\n')])
  return drover(lab, ['run', playbook, '--check', ...args], options)
}

const reached = (end: DroverEnd, name: string): void => {
  expect(end.host(name), end.stdout + end.stderr).toMatchObject({ outcome: 'would-change', error: null })
}

describe.each(['ssh2', 'openssh'])('by %s', (transport) => {
  const over = ['--transport', transport]

  test('two hops, each with its own user, port and key name: a bare name is enough', async () => {
    const known = await knownHosts()
    const names = inventory({ deep: null })
    const first = await run([...over, '-F', config()], { inventory: names })
    reached(first, 'deep')
    // accept-new wrote it down by its alias, and neither by address nor by port.
    expect(readFileSync(known, 'utf8').split('\n')[2]).toBe(`the-deep-one ${await key('/etc/ssh/last_key.pub')}`)
    expect(await host.must('journalctl -u "sshd-$1" -o cat', [String(last)])).toContain('for deploy from 127.0.0.1')

    const again = await run([...over], { inventory: names, env: { DROVER_SSH_CONFIG: config() } })
    reached(again, 'deep')
    expect(readFileSync(known, 'utf8').trimEnd().split('\n')).toHaveLength(3)
  })

  test('a gate whose key is not the one of its name lets nobody through', async () => {
    const known = await knownHosts()
    const other = await key('/etc/ssh/last_key.pub')
    writeFileSync(known, readFileSync(known, 'utf8').replace(/^the-inner-gate .*$/m, `the-inner-gate ${other}`))
    const end = await run([...over, '-F', config()], { inventory: inventory({ deep: null }) })
    expect(end.code).toBe(4)
    expect(end.host('deep').error).toMatchObject({
      code: 'host-key-changed',
      message: expect.stringContaining('the-inner-gate'),
      detail: expect.stringMatching(new RegExp(`${known}:2`)),
    })
  })

  test('inventory and command line stand above ssh_config', async () => {
    await knownHosts()
    const names = inventory({ deep: { user: 'nobody-there' } })
    const end = await run([...over, '-F', config()], { inventory: names })
    expect(end.host('deep').error).toMatchObject({
      code: 'auth-failed',
      message: expect.stringContaining('nobody-there'),
    })
  })
})

test('-F none is as if there were no ssh_config', async () => {
  const end = await run(['-F', 'none'], {
    inventory: inventory({ deep: null }),
    env: { DROVER_SSH_CONFIG: config() },
  })
  expect(end.host('deep').error).toMatchObject({ code: 'resolve-failed' })
})

test('without an ssh client drover reads the file itself', async () => {
  await knownHosts()
  const end = await run(['-F', config()], { inventory: inventory({ deep: null }), env: { PATH: '/nowhere' } })
  reached(end, 'deep')
})

test('a fault in the file is exit 5 with its line, and no host is touched', async () => {
  const end = await run(['-F', config('Bogus yes')], { inventory: inventory({ deep: null }) })
  expect(end).toMatchObject({ code: 5, directory: undefined })
  expect(end.stderr).toMatch(/ssh_config: line 1: Bad configuration option: bogus \[ssh-config-invalid\]/)
})

test('what is not honoured is said once, with its place', async () => {
  await knownHosts()
  const end = await run(['-F', config('SetEnv A=b')], { inventory: inventory({ deep: null }) })
  const told = end.events.filter((event) => event.type === 'notice' && event.message.includes('SetEnv'))
  expect(told).toMatchObject([{ host: null, message: expect.stringMatching(/^ssh_config: SetEnv is not honoured/) }])
})

describe('keys scan', () => {
  const scan = (...args: readonly string[]): Promise<DroverEnd> =>
    drover(lab, ['keys', 'scan', '-i', inventory({ deep: null }), '-F', config(), ...args])

  test('from nothing to everything known, a gate at a time, and then a run needs no other policy', async () => {
    const known = join(lab.folder, 'fleet_hosts')
    rmSync(known, { force: true })
    const states = async (): Promise<Record<string, string[]>> => {
      const { hosts } = JSON.parse((await scan('-o', 'json')).stdout) as {
        hosts: { host: string; keys: { state: string }[]; error: { code: string } | null }[]
      }
      return Object.fromEntries(
        hosts.map((one) => [one.host, one.error ? [one.error.code] : [...new Set(one.keys.map(({ state }) => state))]]),
      )
    }
    expect(await states()).toEqual({
      'outer-gate': ['new'],
      'inner-gate': ['host-key-unknown'],
      deep: ['host-key-unknown'],
    })
    for (const code of [4, 4, 0]) expect((await scan('--write', '--yes')).code).toBe(code)
    expect(await states()).toEqual({ 'outer-gate': ['known'], 'inner-gate': ['known'], deep: ['known'] })
    expect(readFileSync(known, 'utf8')).toContain(`the-deep-one ${await key('/etc/ssh/last_key.pub')}`)
    reached(
      await run(['-F', config(), '--host-key-policy', 'strict'], { inventory: inventory({ deep: null }) }),
      'deep',
    )
  })

  test('a key that has changed is shown with the old one, never written over, and exit 2', async () => {
    const known = await knownHosts()
    const wrong = await key('/etc/ssh/ssh_host_ed25519_key.pub')
    writeFileSync(known, `${readFileSync(known, 'utf8')}the-deep-one ${wrong}\n`)
    const before = readFileSync(known, 'utf8')
    const end = await scan('--write', '--yes')
    expect(end.code, end.stdout).toBe(2)
    expect(end.stdout).toMatch(/^deep .* CHANGED$/m)
    expect(end.stdout).toContain(`in ${known}:3`)
    expect(end.stdout).toContain(`ssh-keygen -R 'the-deep-one' -f '${known}'`)
    expect(readFileSync(known, 'utf8').startsWith(before)).toBe(true)
    expect(readFileSync(known, 'utf8')).not.toContain(await key('/etc/ssh/last_key.pub'))
  })
})
