import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { installMissing, NEEDS } from '../lab/install.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover, startDrover } from '../support/drover.ts'
import { addUser, hostsFile, knowPort, startSshd } from '../support/sshd.ts'

/** Story: a stuck node that lets in certificates alone, behind a bastion, and an account with a password: all by the system's ssh. */

const [certificatePort, passwordPort] = [2300, 2301]
const password = 'Correct-Horse_7'

let lab: Lab
let gate: LabHost
let stuck: LabHost
let inventory: string

beforeAll(async () => {
  await installMissing([NEEDS.client], true)
  lab = await openLab('transport-openssh', { yes: true })
  ;[gate, stuck] = await Promise.all([
    lab.boot({ name: 'gate', image: 'ubuntu-like' }),
    lab.boot({ name: 'stuck', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
  ])
  await stuck.stick()
  await addUser(lab, gate, { name: 'ops', password, sudoers: ['NAME ALL=(root) NOPASSWD: ALL'] })
  await startSshd(gate, { port: passwordPort, lines: ['PasswordAuthentication yes', 'PubkeyAuthentication no'] })
  // The authority, and the certificate of the lab's key, made on the host: this machine need not have ssh-keygen.
  await stuck.put('/root/user.pub', `${lab.key.authorizedLine}\n`)
  await stuck.must('ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/fleet_ca')
  await stuck.must('ssh-keygen -q -s /etc/ssh/fleet_ca -I fleet-operator -n root -V -1h:+1d /root/user.pub')
  writeFileSync(`${lab.key.file}-cert.pub`, `${await stuck.must('cat /root/user-cert.pub')}\n`)
  await startSshd(stuck, {
    port: certificatePort,
    lines: ['TrustedUserCAKeys /etc/ssh/fleet_ca.pub', 'AuthorizedKeysFile none', 'LogLevel VERBOSE'],
  })
  await knowPort(lab, gate, passwordPort)
  await knowPort(lab, stuck, certificatePort)
  inventory = hostsFile(lab, 'openssh', {
    stuck: { address: stuck.address, port: certificatePort, user: 'root', jump: 'gate' },
    gate: { address: gate.address, user: 'root' },
    ops: { address: gate.address, port: passwordPort, user: 'ops', become: true },
  })
})

afterAll(() => lab?.close())

const byOpenssh = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<DroverEnd> =>
  drover(lab, [...args, '--transport', 'openssh'], { inventory, env })

interface Row {
  readonly host: string
  readonly status: { readonly verdict: string } | null
  readonly error: { readonly code: string; readonly remedy: string } | null
}

const rowsOf = ({ stdout, stderr }: DroverEnd): ReadonlyMap<string, Row> => {
  if (stdout === '') throw new Error(`drover status said nothing: ${stderr}`)
  return new Map((JSON.parse(stdout) as { hosts: Row[] }).hosts.map((row) => [row.host, row]))
}

/** What the host's log says of who was let in. */
const accepted = async (): Promise<string> =>
  stuck.must('journalctl --no-pager -q -o cat -u "sshd-$1" | grep "^Accepted publickey" || :', [
    String(certificatePort),
  ])

/** The ssh processes that were started for this lab. */
const clients = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
        return words[0] === 'ssh' && words.some((word) => word.includes(lab.folder)) ? [words.join(' ')] : []
      } catch {
        return []
      }
    })

describe('by the system’s ssh', () => {
  test('every host is read: by certificate through the bastion, by key, and by password', async () => {
    const rows = rowsOf(await byOpenssh(['status', '-o', 'json'], { DROVER_SSH_PASSWORD: password }))
    expect([...rows.values()].map(({ host, error }) => [host, error?.code])).toEqual([
      ['stuck', undefined],
      ['gate', undefined],
      ['ops', undefined],
    ])
    expect(rows.get('stuck')?.status?.verdict).toBe('stuck')
    const log = await accepted()
    expect(log).toMatch(/^Accepted publickey for root from .* ED25519-CERT .*ID fleet-operator/)
    // Through the bastion, and by one connection however many commands there were.
    expect(log).toContain(`from ${gate.address} `)
    expect(log.split('\n')).toHaveLength(1)
    expect(clients()).toEqual([])
  })

  test('without a password nobody is asked for one', async () => {
    const end = await byOpenssh(['status', '-o', 'json', '-l', 'ops'])
    expect(rowsOf(end).get('ops')?.error).toMatchObject({ code: 'auth-failed' })
    expect(end.code).toBe(4)
  })

  test('a dry run plans what the run then does, and the next run finds nothing to do', async () => {
    // Stable for a second is enough here.
    const soon = ['-e', 'stable_s=1']
    const planned = await byOpenssh(['run', 'remediate', '-l', 'stuck', '--check', '--detailed-exitcode', ...soon])
    expect([planned.code, planned.host('stuck').outcome]).toEqual([6, 'would-change'])
    expect(await stuck.must('systemctl is-active "$1" || :', [WORKER_UNIT])).toBe('inactive')
    const done = await byOpenssh(['run', 'remediate', '-l', 'stuck', ...soon])
    expect([done.code, done.host('stuck').outcome]).toEqual([0, 'changed'])
    expect(await stuck.must('systemctl is-active "$1"', [WORKER_UNIT])).toBe('active')
    const again = await byOpenssh(['run', 'remediate', '-l', 'stuck'])
    expect([again.code, again.host('stuck').outcome]).toEqual([0, 'unchanged'])
    expect(clients()).toEqual([])
  })

  test('drover killed in the middle leaves no ssh behind', async () => {
    const running = startDrover(lab, ['run', 'remediate', '-l', 'stuck', '--transport', 'openssh'], { inventory })
    await running.until('exec')
    running.child.kill('SIGKILL')
    await running.ended
    for (let tries = 0; tries < 200 && clients().length > 0; tries += 1) await sleep(50)
    expect(clients()).toEqual([])
    const next = await byOpenssh(['run', 'remediate', '-l', 'stuck'])
    expect([next.code, next.stdout.includes('stuck')]).toEqual([0, true])
  })

  test('on a machine without ssh the run ends before any host is touched', async () => {
    const bare = join(lab.folder, 'no-programs')
    const before = await accepted()
    const end = await byOpenssh(['status'], { PATH: bare })
    expect([end.code, end.stderr]).toEqual([5, expect.stringContaining('[ssh-client-unusable]')])
    expect(end.stderr).toContain('--transport ssh2')
    expect(await accepted()).toBe(before)
  })
})
