import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { ErrorReport } from '../../src/runner/events.ts'
import type { HostStatus } from '../../src/tasks/agent/assess.ts'
import { AGENT_UNIT, type HostSpec, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type DroverEnd, drover } from '../support/drover.ts'
import { DAEMON_STATE, states } from '../support/units.ts'

/** Story: an operator looks at a fleet in which everything is wrong that can be, and puts right what drover can. */

let lab: Lab
let inventory: string

const deployed = { agent: 'old', worker: 'sleep' } as const
const specs: readonly HostSpec[] = [
  { name: 'stuck', image: 'rhel9-like', ...deployed },
  { name: 'healthy', image: 'acl-like', agent: 'new', worker: 'sleep' },
  { name: 'stopped', image: 'ubuntu-like', ...deployed },
  { name: 'masked', image: 'rhel9-like', ...deployed },
  { name: 'damaged', image: 'ubuntu-like', ...deployed },
  { name: 'boxed', image: 'rhel9-like', variant: 'container', ...deployed },
  { name: 'fresh', image: 'ubuntu-like' },
]

/** What is done to each to make it what it is called. */
const made: Readonly<Record<string, (host: LabHost) => Promise<unknown>>> = {
  stuck: (host) => host.stick(),
  stopped: (host) => host.must('systemctl disable --quiet --now "$1"', [WORKER_UNIT]),
  masked: (host) => host.must('systemctl stop "$1"; systemctl mask --quiet machines.target', [WORKER_UNIT]),
  // A byte of the state without a new checksum.
  damaged: (host) => host.must('sed -i "s/kube1/kube2/" "$1"', [DAEMON_STATE]),
  boxed: (host) =>
    host.must(
      'mkdir -p /etc/drover-lab; touch /etc/drover-lab/containerd-fails; systemctl restart containerd.service || systemctl start "$1" || :',
      [AGENT_UNIT],
    ),
}

beforeAll(async () => {
  lab = await openLab('status', { yes: true })
  await Promise.all(
    specs.map(async (spec) => {
      const host = await lab.boot(spec)
      await made[spec.name]?.(host)
    }),
  )
  const hosts = Object.fromEntries(specs.map(({ name }) => [name, lab.host(name).inventoryEntry]))
  // An address of the lab's network where nobody is.
  const gone = { address: lab.host('stuck').address.replace(/\d+$/, '250'), user: 'root' }
  inventory = write('fleet', { ...hosts, gone })
})

afterAll(() => lab?.close())

const write = (name: string, hosts: object): string => {
  const file = join(lab.folder, `${name}.yaml`)
  writeFileSync(file, stringify({ known_hosts: './known_hosts', identity_file: './id_ed25519', hosts }))
  return file
}

const status = (...args: readonly string[]): Promise<DroverEnd> => drover(lab, ['status', ...args], { inventory })

interface Row {
  readonly host: string
  readonly withoutRoot: boolean
  readonly status: HostStatus | null
  readonly error: ErrorReport | null
}
const rowsOf = ({ stdout, stderr }: DroverEnd): Map<string, Row> => {
  if (stdout === '') throw new Error(`drover status said nothing: ${stderr}`)
  const { hosts } = JSON.parse(stdout) as { hosts: readonly Row[] }
  return new Map(hosts.map((row) => [row.host, row]))
}

describe('a fleet with everything in it', () => {
  test('the table has a verdict for every host, and a fix where drover has one', async () => {
    const seen = await status()
    expect(seen.code, seen.stderr).toBe(4)
    const lines = seen.stdout.split('\n')
    const [header = ''] = lines
    const cell = (host: string, column: string): string => {
      const line = lines.find((one) => one.startsWith(`${host} `)) ?? ''
      return line.slice(header.indexOf(column)).split(/ {2}|$/)[0] ?? ''
    }
    const table = Object.fromEntries(
      [...specs.map(({ name }) => name), 'gone'].map((host) => [host, [cell(host, 'VERDICT'), cell(host, 'FIX')]]),
    )
    expect(table, seen.stdout).toEqual({
      stuck: ['stuck', 'remediate'],
      healthy: ['healthy', '-'],
      stopped: ['worker-stopped', '-'],
      masked: ['target-masked', '-'],
      damaged: ['state-unreadable', '-'],
      boxed: ['containerd-failed', '-'],
      fresh: ['no-agent', '-'],
      gone: [expect.stringMatching(/^connect-(failed|timeout)$/), '-'],
    })
    expect(cell('healthy', 'ROOT')).toBe('MOVED')
    expect(cell('stuck', 'SYSTEMD')).toBe('252')
    expect(cell('stopped', 'SYSTEMD')).toBe('257')
    expect(cell('damaged', 'WORKER')).toBe('?')
    expect(cell('fresh', 'WORKER')).toBe('-')
  })

  test('below it: why, how many of each, and the one command to run next', async () => {
    const { stdout } = await status()
    for (const line of [
      `stuck: ${WORKER_UNIT} is enabled and inactive; machines.target is inactive`,
      `stopped: ${WORKER_UNIT} is disabled and stopped, as on purpose`,
      'masked: machines.target is masked, so no worker starts at boot; drover never unmasks it',
      `damaged: ${DAEMON_STATE} does not match its checksum`,
      'boxed: containerd does not run, so the agent was not started',
      'fresh: no agent is installed',
    ])
      expect(stdout.split('\n')).toContain(line)
    expect(stdout).toMatch(
      /^8 hosts: 1 connect-\w+, 1 containerd-failed, 1 healthy, 1 no-agent, 1 state-unreadable, 1 stuck, 1 target-masked, 1 worker-stopped$/m,
    )
    expect(stdout).toMatch(/^agents: 5 v0\.2\.0, 1 none, 1 v0\.3\.0$/m)
    expect(stdout.match(/^next: .*$/gm)).toEqual([`next: drover run remediate -i ${inventory} -l stuck --check`])
    expect(stdout).toMatch(/^gone: .* \[connect-\w+\]\n {2}fix: ./m)
  })

  test('--output json has the same, with null for what is not known', async () => {
    const rows = rowsOf(await status('-o', 'json'))
    const verdicts = Object.fromEntries([...rows].map(([host, row]) => [host, row.status?.verdict ?? row.error?.code]))
    expect(verdicts).toMatchObject({
      stuck: 'stuck',
      healthy: 'healthy',
      boxed: 'containerd-failed',
      fresh: 'no-agent',
    })
    expect(rows.get('stuck')).toMatchObject({
      withoutRoot: false,
      error: null,
      status: {
        verdict: 'stuck',
        fix: 'remediate',
        agent: { installed: true, variant: 'host', version: 'v0.2.0', state: 'active', enabled: true },
        target: { state: 'inactive', fileState: 'disabled', enabled: false },
        worker: { machine: 'kube1', unit: WORKER_UNIT, state: 'inactive', enabled: true },
      },
    })
    expect(rows.get('damaged')?.status).toMatchObject({
      worker: null,
      stateError: `${DAEMON_STATE} does not match its checksum`,
    })
    expect(rows.get('boxed')?.status).toMatchObject({
      agent: { variant: 'container', state: expect.not.stringMatching('^active$') },
    })
    expect(rows.get('fresh')?.status).toMatchObject({
      agent: { installed: false, version: null, state: null },
      worker: null,
    })
    expect(rows.get('gone')).toMatchObject({
      status: null,
      error: { code: expect.stringMatching(/^connect-/), remedy: expect.stringMatching(/./) },
    })
  })

  test.each([
    ['healthy', 0],
    ['stuck', 2],
    ['fresh', 2],
    ['gone', 4],
    ['healthy,gone', 4],
    ['stuck,gone', 2],
  ])('--exit-code of %s is %i', async (limit, code) => {
    expect((await status('-l', limit, '--exit-code')).code).toBe(code)
  })

  test('it writes nothing on the hosts', async () => {
    for (const host of lab.hosts)
      expect((await host.sh('ls -d /run/drover /var/lib/drover')).stdout, host.name).toBe('')
  })
})

describe('without root', () => {
  /** All that a row says, but for what anybody may see. The one enabled side is shown, and not called the active one. */
  const rootOnly = { worker: { machine: 'kube1', isAssumed: true }, stateError: null, others: [], findings: [] }

  test('become: false as core: it says what it can see, that it saw no more, and claims nothing else', async () => {
    const file = write('core', { healthy: { address: lab.host('healthy').address, user: 'core', become: false } })
    const json = await drover(lab, ['status', '-o', 'json'], { inventory: file })
    expect(json.code, json.stderr).toBe(0)
    const row = rowsOf(json).get('healthy')
    expect(row).toMatchObject({
      withoutRoot: true,
      error: null,
      status: {
        ...rootOnly,
        verdict: 'state-unreadable',
        explanation: 'which worker is active only root may read',
        fix: null,
        hostRoot: 'MOVED',
        agent: { installed: true, variant: 'host', state: 'active', enabled: true },
        target: { state: 'active', enabled: true },
      },
    })
    const table = await drover(lab, ['status', '--exit-code'], { inventory: file })
    expect(table.code).toBe(2)
    expect(table.stdout).toMatch(/^healthy .* state-unreadable \(without root\) +-$/m)
    expect(table.stdout).toMatch(/^read without root, so in part: healthy$/m)
    expect(table.stdout).not.toMatch(/^next:/m)

    const run = await drover(lab, ['run', 'preflight', '-o', 'json'], { inventory: file })
    expect(run.code).toBe(2)
    const checks = run.host('healthy').preflight?.checks ?? []
    const severityOf = (name: string) => checks.find((check) => check.name === name)?.severity
    expect(checks.find(({ severity }) => severity === 'error')?.name).toBe('is-privileged-user')
    // What only root can look at is not called good.
    for (const name of ['api-server-reachable', 'localdns-conntrack', 'nspawn-machine-provisioning'])
      expect(severityOf(name), name).not.toBe('ok')
    expect(severityOf('machines-target')).toBe('ok')
  })

  test('become: true for a user whom sudo refuses: the same of the stuck host, which is not called stuck', async () => {
    const host = lab.host('stuck')
    await host.must(
      'useradd --create-home guest; install -d -m 0700 -o guest -g guest /home/guest/.ssh; printf "%s\\n" "$1" >/home/guest/.ssh/authorized_keys; chown guest: /home/guest/.ssh/authorized_keys',
      [lab.key.authorizedLine],
    )
    const file = write('guest', { stuck: { address: host.address, user: 'guest', become: true } })
    const row = rowsOf(await drover(lab, ['status', '-o', 'json'], { inventory: file })).get('stuck')
    expect(row).toMatchObject({
      withoutRoot: true,
      error: null,
      status: {
        ...rootOnly,
        verdict: 'state-unreadable',
        fix: null,
        // Releases up to v0.2.0 let nobody look into their directory.
        hostRoot: 'UNREADABLE',
        agent: { installed: true, version: null, state: 'active' },
        target: { state: 'inactive' },
      },
    })
    // A run wants root and says so; it does not go on with half of the facts.
    const run = await drover(lab, ['run', 'preflight'], { inventory: file })
    expect(run.code).toBe(2)
    expect(run.host('stuck')).toMatchObject({ outcome: 'failed', error: { code: 'become-failed' } })
    expect(run.host('stuck').preflight).toBeUndefined()
    expect(run.host('stuck').error?.remedy).toMatch(/-K.*NOPASSWD/)
  })
})

describe('from status to remediate', () => {
  test('--where verdict=stuck -o names is the list that remediate takes, and nothing else is touched', async () => {
    const names = await status('--where', 'verdict=stuck', '-o', 'names')
    expect(names.stdout).toBe('stuck\n')
    writeFileSync(join(lab.folder, 'stuck.txt'), names.stdout)
    const untouched = lab.hosts.filter(({ name }) => name !== 'stuck')
    const before = await Promise.all(untouched.map(looks))
    const remediate = ['run', 'remediate', '-l', '@stuck.txt', '-e', 'stable_s=1', '-e', 'within_s=20']

    const check = await drover(lab, [...remediate, '--check', '--detailed-exitcode'], { inventory })
    expect(check.code, check.stdout + check.stderr).toBe(6)
    expect(await states(lab.host('stuck'))).toMatchObject({ worker: 'inactive' })

    const run = await drover(lab, remediate, { inventory })
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.report?.hosts.map(({ name, outcome }) => [name, outcome])).toEqual([['stuck', 'changed']])
    expect(await Promise.all(untouched.map(looks))).toEqual(before)

    expect(rowsOf(await status('-l', 'stuck', '-o', 'json')).get('stuck')?.status?.verdict).toBe('healthy')
    const again = await status('--where', 'verdict=stuck', '-o', 'names')
    expect(again.stdout).toBe('')
    expect(again.stderr).toContain('none of 8 hosts is as --where says')
  })

  test('--where takes several columns, lists and globs', async () => {
    expect((await status('--where', 'os=*rocky*', '--where', 'fix=-', '-o', 'names')).stdout).toBe(
      'stuck\nmasked\nboxed\n',
    )
    expect((await status('--where', 'verdict=no-agent,target-*', '-o', 'names')).stdout).toBe('masked\nfresh\n')
    expect((await status('--where', 'verdict=connect-*', '-o', 'names')).stdout).toBe('gone\n')
  })
})

const looks = async (host: LabHost): Promise<unknown> => [
  await states(host),
  await host.must('ls -lR --full-time /etc/systemd/system /etc/aks-flex-node 2>/dev/null; :'),
]
