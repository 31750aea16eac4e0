import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createReportFold } from '../../src/report/report-fold.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, drover, execsOf, startDrover, statusOf } from '../support/drover.ts'
import { file, slow, writePlaybook } from '../support/playbook.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { exists } from '../support/units.ts'

/** Story: what the engine promises of every run, whatever the playbook wants (rules.md E1 to E6). */

const short = ['-e', 'stable_s=1', '-e', 'within_s=20']
const marker = 'content-that-no-log-shows'

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
/** User core, sudo, read-only /usr. */
let acl: LabHost
/** One step of every kind that a host without packages takes. */
let kinds: string

beforeAll(async () => {
  lab = await openLab('engine', { yes: true })
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  kinds = writePlaybook(lab, 'kinds', [
    { task: 'directory-present', with: { path: '/etc/story' } },
    file('a', '/etc/story/a', `${marker}\n`, { mode: '0600' }),
    { task: 'link-present', with: { path: '/etc/story/link', target: 'a' } },
    { task: 'path-absent', with: { path: '/etc/story-old' } },
    file(
      'unit',
      '/etc/systemd/system/story.service',
      '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
    ),
    { task: 'unit-enabled', with: { unit: 'story.service' } },
    { task: 'unit-running', with: { unit: 'story.service' } },
    { task: 'command', with: { argv: ['touch', '/etc/story/touched'], creates: '/etc/story/touched' } },
  ])
  for (const host of [rhel, acl]) await host.must(': >/etc/story-old')
})

afterAll(() => lab?.close())

const each = async (hosts: readonly LabHost[], check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all(hosts.map((host) => check(host)))
}

test('--check, status and preflight leave hosts exactly as they were, and make no /run/drover', async () => {
  const hosts = [rhel, acl]
  // A stopped worker and no wiring: there would be much to do.
  await each(hosts, (host) => host.killWorker())
  const before = await Promise.all(hosts.map(snapshotOf))
  const limit = ['-l', 'rhel9,acl3']
  for (const playbook of ['remediate', 'machines-target', kinds]) {
    const run = await drover(lab, [
      'run',
      playbook,
      ...limit,
      ...(playbook === kinds ? [] : short),
      '--check',
      '--diff',
      '--detailed-exitcode',
    ])
    expect(run.code, run.stdout + run.stderr).toBe(6)
    for (const host of hosts) expect(execsOf(run, host.name), `${playbook} on ${host.name}`).toEqual(['inspect'])
    if (playbook !== 'machines-target') for (const host of hosts) expect(run.host(host.name).changes).toBeGreaterThan(1)
  }
  await drover(lab, ['run', 'preflight', ...limit])
  await drover(lab, ['status', ...limit])
  expect(await Promise.all(hosts.map(snapshotOf))).toEqual(before)
  await each(hosts, async (host) => expect(await exists(host, '/run/drover')).toBe(false))
})

test('every kind of change is made and verified, as root and as a user with sudo, and a second run finds nothing to do', async () => {
  const check = await drover(lab, ['run', kinds, '-l', 'rhel9,acl3', '--check'])
  const run = await drover(lab, ['run', kinds, '-l', 'rhel9,acl3', '--reason', 'the story of the engine'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  await each([rhel, acl], async (host) => {
    // What was foretold is what was done, up to what only the first segment could make known.
    expect(changesOf(run.host(host.name)).slice(0, changesOf(check.host(host.name)).length)).toEqual(
      changesOf(check.host(host.name)),
    )
    expect(
      await host.must(
        'cd /etc/story; stat -c "%n %a %U:%G %F" a link touched; readlink link; cat a; systemctl is-enabled story; systemctl is-active story',
      ),
    ).toBe(
      [
        'a 600 root:root regular file',
        'link 777 root:root symbolic link',
        'touched 644 root:root regular empty file',
        'a',
        marker,
        'enabled',
        'active',
      ].join('\n'),
    )
    expect(await exists(host, '/etc/story-old')).toBe(false)
  })
  const again = await drover(lab, ['run', kinds, '-l', 'rhel9,acl3'])
  for (const host of [rhel, acl]) {
    expect(again.host(host.name), again.stdout).toMatchObject({ outcome: 'unchanged', changes: 0 })
    expect(execsOf(again, host.name)).toEqual(['inspect'])
  }

  // E3: what the hosts' own logs say of it.
  const id = run.report?.run ?? ''
  await each([rhel, acl], async (host) => {
    const segments = execsOf(run, host.name).filter((verb) => verb === 'apply').length
    const lines = (await host.must('journalctl -q -o cat -t drover')).split('\n')
    expect(lines, host.name).toHaveLength(segments)
    expect(lines[0]).toMatch(
      new RegExp(
        `^run ${id} by e2e@lab, reason: the story of the engine, [0-9]+ changes to make: create directory /etc/story`,
      ),
    )
    expect((await host.sh('journalctl -q -o export | grep -c "$1"', [marker])).stdout.trim()).toBe('0')
  })
  const sudo = await acl.must('journalctl -q -o cat -t sudo')
  for (const verb of ['inspect', 'apply', 'verify'])
    expect(sudo).toContain(`COMMAND=/bin/sh -c ': drover ${id} ${verb};`)
})

test('journal, report, host files and --output json say the same', async () => {
  await each([rhel, acl], async (host) => void (await host.must('rm -r /etc/story')))
  const run = await drover(lab, ['run', kinds, '-l', 'rhel9,acl3', '--output', 'json'])
  const fold = createReportFold()
  for (const event of run.events) fold.take(event)
  expect(JSON.parse(JSON.stringify(fold.report()))).toEqual(run.report)
  expect(JSON.parse(run.stdout)).toEqual(run.report)
  expect(run.report?.exitCode).toBe(run.code)
  for (const host of ['rhel9', 'acl3']) {
    const done = run.events.filter((event) => event.type === 'change-done' && event.host === host)
    expect(done.map((event) => (event.type === 'change-done' ? event.summary : ''))).toEqual(changesOf(run.host(host)))
  }
})

describe('a fleet with bad hosts in it', () => {
  const playbook = (): string => writePlaybook(lab, 'mark', [file('mark', '/etc/fleet', 'here\n')])
  const order = ['gone', 'rhel9', 'ubuntu24', 'acl3']
  let inventory: string

  beforeAll(() => {
    // Beside the good hosts an address nobody has, and a host whose key is not the one that is known.
    const known = join(lab.folder, 'known_hosts.wrong')
    inventory = join(lab.folder, 'fleet.yaml')
    const entries = [rhel, ubuntu, acl].map((host) => [host.name, host.inventoryEntry] as const)
    const gone = { address: rhel.address.replace(/[0-9]+$/, '250'), user: 'root' }
    const hosts = Object.fromEntries([['gone', gone], ...entries])
    writeFileSync(inventory, stringify({ known_hosts: known, identity_file: lab.key.file, hosts }))
  })

  const learnWrongly = async (): Promise<void> => {
    const lines = await Promise.all(
      [rhel, ubuntu, acl].map(async (host) =>
        (await (host === ubuntu ? rhel : host).hostKeys()).map((key) => `${host.address} ${key}`),
      ),
    )
    writeFileSync(join(lab.folder, 'known_hosts.wrong'), `${lines.flat().join('\n')}\n`)
  }

  test('the good ones are done, the bad ones are unreachable each by its own code, exit code 4, in the order of the inventory', async () => {
    await learnWrongly()
    const run = await drover(lab, ['run', playbook()], { inventory })
    expect(run.code, run.stdout + run.stderr).toBe(4)
    expect(run.report?.hosts.map(({ name, outcome, error }) => [name, outcome, error?.code ?? null])).toEqual([
      ['gone', 'unreachable', expect.stringMatching(/^connect-/)],
      ['rhel9', 'changed', null],
      ['ubuntu24', 'unreachable', 'host-key-changed'],
      ['acl3', 'changed', null],
    ])
    const recap = run.stdout.slice(run.stdout.indexOf('PLAY RECAP')).split('\n')
    expect(recap.slice(1, 5).map((line) => line.split(' ')[0])).toEqual(order)
    expect(await exists(ubuntu, '/etc/fleet')).toBe(false)
  })

  test('and where one fails besides, the exit code is 2, with 4 among the reasons', async () => {
    await rhel.must('rm /etc/fleet; mkdir /etc/fleet')
    const run = await drover(lab, ['run', playbook()], { inventory })
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(run.report?.exitReasons).toEqual([2, 4])
    expect(run.host('rhel9')).toMatchObject({ outcome: 'blocked', error: { code: 'path-in-the-way' } })
    expect(run.host('acl3').outcome).toBe('unchanged')
  })
})

test('locked: while a run applies, another gets exit code 9 and is told whose it is; afterwards it goes', async () => {
  const first = startDrover(lab, ['run', writePlaybook(lab, 'first', [slow(6, '/run/story-first')])])
  await Promise.all(
    ['rhel9', 'acl3', 'ubuntu24'].map((host) => first.until('change-started', (event) => event.host === host)),
  )
  const second = writePlaybook(lab, 'second', [file('b', '/etc/story-second', 'second\n')])
  const run = await drover(lab, ['run', second], { env: { DROVER_OPERATOR: 'other@lab' } })
  const { run: id } = await first.until('run-started')
  expect(run.code, run.stdout + run.stderr).toBe(9)
  for (const host of [rhel, ubuntu, acl]) {
    expect(run.host(host.name)).toMatchObject({ outcome: 'blocked', changes: 0, error: { code: 'locked' } })
    const message = run.host(host.name).error?.message
    expect(message).toContain(id)
    expect(message).toContain('e2e@lab')
    expect(await exists(host, '/etc/story-second')).toBe(false)
  }
  expect(await statusOf(lab, 'acl3')).toMatchObject({ verdict: 'locked', explanation: expect.stringContaining(id) })
  expect((await first.ended).code).toBe(0)
  expect((await drover(lab, ['run', second])).report?.totals.changed).toBe(3)
})

test('drifted: what was changed by hand after it was read is not overwritten, and nothing after it is done', async () => {
  const hosts = [rhel, acl]
  await each(hosts, async (host) => void (await host.must('mkdir -p /etc/story; echo old >/etc/story/drift')))
  const playbook = writePlaybook(lab, 'drift', [
    slow(3, '/run/story-drift'),
    file('drift', '/etc/story/drift', 'new\n'),
    file('after', '/etc/story/after', 'after\n'),
  ])
  const process = startDrover(lab, ['run', playbook, '-l', 'rhel9,acl3'])
  await each(hosts, async (host) => {
    await process.until('change-started', (event) => event.host === host.name)
    await host.must('echo by hand >/etc/story/drift')
  })
  const run = await process.ended
  expect(run.code, run.stdout + run.stderr).toBe(2)
  await each(hosts, async (host) => {
    expect(run.host(host.name)).toMatchObject({
      outcome: 'blocked',
      changes: 1,
      error: { code: 'drifted', step: 'drift' },
    })
    expect(await host.must('cat /etc/story/drift')).toBe('by hand')
    expect(await exists(host, '/etc/story/after')).toBe(false)
  })
  const again = await drover(lab, ['run', playbook, '-l', 'rhel9,acl3'])
  expect(again.code, again.stdout + again.stderr).toBe(0)
  await each(hosts, async (host) => expect(await host.must('cat /etc/story/drift /etc/story/after')).toBe('new\nafter'))
})

test('a systemd that re-executes itself in the middle, as its own update has it do, misleads nobody', async () => {
  const steps = (round: number): string =>
    writePlaybook(lab, 'reexec', [
      {
        task: 'command',
        with: {
          argv: ['sh', '-c', 'systemctl daemon-reexec --no-block; touch "$1"', 'reexec', `/srv/reexec-${round}`],
          creates: `/srv/reexec-${round}`,
        },
      },
      file('after', `/srv/after-${round}`, 'there\n'),
    ])
  for (const round of [1, 2, 3]) {
    const run = await drover(lab, ['run', steps(round), '-l', 'rhel9,ubuntu24'])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each([rhel, ubuntu], async (host) =>
      expect(await host.must('cat "$1"', [`/srv/after-${round}`])).toBe('there'),
    )
  }
})

test('-b gets root rights on a host that no inventory describes', async () => {
  const keys = ['--private-key', lab.key.file, '--known-hosts', lab.knownHostsFile]
  const inventory = `core@${acl.address},`
  const playbook = writePlaybook(lab, 'sudo', [file('mine', '/etc/story-sudo', 'root made this\n')])
  const without = await drover(lab, ['run', playbook, ...keys], { inventory })
  expect(without.code, without.stdout + without.stderr).toBe(2)
  const run = await drover(lab, ['run', playbook, ...keys, '-b'], { inventory })
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(await acl.must('stat -c %U:%a /etc/story-sudo')).toBe('root:644')
})

test('a run that lost its lease on the way, while its machine stood still, changes nothing', async () => {
  // Stands still once, between taking the lease and starting the unit, as a paused machine or a slow upload does.
  await rhel.put(
    '/usr/local/sbin/wc',
    `#!/bin/sh
if [ -e /srv/stall ]; then
  rm -f /srv/stall; : >/srv/stalled
  n=0; while [ ! -e /srv/go ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
fi
exec /usr/bin/wc "$@"
`,
    '0755',
  )
  await rhel.must(': >/srv/stall')
  const playbook = writePlaybook(lab, 'stalled', [file('late', '/srv/late', 'too late\n')])
  const running = startDrover(lab, ['run', playbook, '-l', 'rhel9'])
  await rhel.must(
    'n=0; while [ ! -e /srv/stalled ] && [ $n -lt 200 ]; do sleep 0.1; n=$((n + 1)); done; [ -e /srv/stalled ]',
  )
  await rhel.must('echo "another-run you@there since 2026-01-01T00:00:00Z" >/run/drover/lease; : >/srv/go')
  const run = await running.ended
  await rhel.must('rm -f /usr/local/sbin/wc /run/drover/lease')
  expect(run.code, run.stdout + run.stderr).toBe(9)
  expect(run.host('rhel9')).toMatchObject({ outcome: 'blocked', changes: 0, error: { code: 'locked' } })
  expect(run.host('rhel9').error?.message).toContain('another-run')
  expect(await exists(rhel, '/srv/late')).toBe(false)
  expect((await rhel.sh('ls /run/drover')).stdout).not.toContain('stalled')
})
