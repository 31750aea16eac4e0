import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { changesOf, drover, execsOf, startDrover, statusOf } from '../support/drover.ts'
import { file, gated, letThrough, slow, writePlaybook } from '../support/playbook.ts'
import { DROP_IN, exists, property } from '../support/units.ts'
import { hostsOver } from '../support/wire.ts'

/** Story: runs that are cut anywhere leave hosts whole, and the next run finishes the work (rules.md E1, E4; mechanisms.md 1 and 6). */

const apply = 'drover-apply.service'

let lab: Lab
let rhel: LabHost
/** User core, sudo. */
let acl: LabHost
let inventory: string

beforeAll(async () => {
  lab = await openLab('cut', { yes: true })
  ;[rhel, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  inventory = hostsOver(lab, 'both', [
    [rhel, 'ssh2'],
    [acl, 'openssh'],
  ])
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all([rhel, acl].map((host) => check(host)))
}

const untilIdle = (host: LabHost): Promise<unknown> =>
  until(`${apply} on ${host.name} to end`, 60_000, async () =>
    (await property(host, apply, 'ActiveState')) === 'inactive' ? true : undefined,
  )

/** Names of drover's temporary files, wherever they lie. */
const leftovers = (host: LabHost): Promise<string> =>
  host.must('find /etc /run /var /root -xdev -name ".drover*" ! -path "/run/drover/*"')

/** As if the host had not heard of a dead run for two minutes. */
const age = (host: LabHost): Promise<string> =>
  host.must('[ ! -f /run/drover/lease ] || touch -d "-2 minutes" /run/drover/lease')

describe('drover is killed in the middle of an apply', () => {
  test('the hosts finish the segment by themselves, and the next run finds all done with one look', async () => {
    const playbook = writePlaybook(lab, 'killed', [gated('killed'), file('after', '/etc/killed', 'whole\n')])
    const process = startDrover(lab, ['run', playbook], { inventory })
    await each(async (host) => void (await process.until('change-started', (event) => event.host === host.name)))
    process.child.kill('SIGKILL')
    const killed = await process.ended
    expect([killed.code, killed.report]).toEqual([null, undefined])
    await each(async (host) => {
      expect(await property(host, apply, 'ActiveState'), host.name).toBe('active')
      await letThrough(host, 'killed')
      await untilIdle(host)
      expect(await host.must('cat /etc/killed; [ -f /run/killed ]')).toBe('whole')
      expect(await leftovers(host)).toBe('')
    })
    const next = await drover(lab, ['run', playbook], { inventory })
    expect(next.code, next.stdout + next.stderr).toBe(0)
    for (const host of [rhel, acl]) {
      expect(next.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(next, host.name)).toEqual(['inspect'])
    }
    await each(async (host) => void (await age(host)))
  })

  test('with a second segment to come: the next run is locked out for a minute at most, names the dead one, and then does the rest', async () => {
    const playbook = writePlaybook(lab, 'segments', [
      gated('segments', { touches: ['/etc/segments'] }),
      file('second', '/etc/segments', 'second segment\n'),
    ])
    const process = startDrover(lab, ['run', playbook], { inventory })
    await each(async (host) => void (await process.until('change-started', (event) => event.host === host.name)))
    const { run: dead } = await process.until('run-started')
    process.child.kill('SIGKILL')
    await process.ended
    await each(async (host) => {
      await letThrough(host, 'segments')
      await untilIdle(host)
      expect(await exists(host, '/etc/segments')).toBe(false)
    })
    const early = await drover(lab, ['run', playbook], { inventory })
    expect(early.code, early.stdout + early.stderr).toBe(9)
    for (const host of [rhel, acl]) expect(early.host(host.name).error?.message).toContain(dead)
    await each(async (host) => void (await age(host)))
    const next = await drover(lab, ['run', playbook], { inventory })
    expect(next.code, next.stdout + next.stderr).toBe(0)
    await each(async (host) => expect(await host.must('cat /etc/segments')).toBe('second segment'))
    // Nobody holds anything afterwards.
    await each(async (host) => expect(await exists(host, '/run/drover/lease')).toBe(false))
  })
})

describe('the apply is stopped on the host', () => {
  /** drover calls `sync` by name and looks in /usr/local/sbin first: here it can be held up right before or after a rename. */
  const holdSync = (pattern: string): Promise<string> =>
    rhel.must(
      'printf \'#!/bin/sh\\nfor last; do :; done\\ncase $last in %s) : >/run/held; sleep 30;; esac\\nexec /usr/bin/sync "$@"\\n\' "$1" >/usr/local/sbin/sync; chmod 0755 /usr/local/sbin/sync; rm -f /run/held',
      [pattern],
    )
  const whileHeld = async (act: () => Promise<unknown>): Promise<void> => {
    await until('the apply to be held up', 60_000, async () => ((await exists(rhel, '/run/held')) ? true : undefined))
    await act()
    await rhel.must('rm -f /usr/local/sbin/sync /run/held')
  }

  test('between a unit written and the reload: the reload is owed, status says so, and the next run pays it first', async () => {
    await holdSync(`${DROP_IN.slice(0, DROP_IN.lastIndexOf('/'))}/`)
    const process = startDrover(lab, ['run', 'machines-target', '-l', 'rhel9'], { inventory })
    await whileHeld(() => rhel.must('systemctl stop "$1"', [apply]))
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(run.host('rhel9')).toMatchObject({ outcome: 'failed', error: { code: 'apply-incomplete' } })
    expect(await exists(rhel, DROP_IN)).toBe(true)
    expect(await rhel.must('ls /run/drover/owed')).toBe('daemon-reload')
    expect(await property(rhel, 'aks-flex-node-agent.service', 'Wants')).not.toContain('machines.target')
    expect(await statusOf(lab, 'rhel9')).toMatchObject({ verdict: 'not-wired' })

    const next = await drover(lab, ['run', 'machines-target', '-l', 'rhel9', '-e', 'stable_s=1'], { inventory })
    expect(next.code, next.stdout + next.stderr).toBe(0)
    expect(next.host('rhel9').steps[0]).toMatchObject({
      step: 'owed by a run that was cut',
      changes: [{ summary: 'systemctl daemon-reload' }],
    })
    expect(await property(rhel, 'aks-flex-node-agent.service', 'Wants')).toContain('machines.target')
    expect(await exists(rhel, '/run/drover/owed/daemon-reload')).toBe(false)
    const last = await drover(lab, ['run', 'machines-target', '-l', 'rhel9'], { inventory })
    expect(last.host('rhel9')).toMatchObject({ outcome: 'unchanged', changes: 0 })
  })

  test('before the rename: the old file stays whole, and the next run removes what was left beside it', async () => {
    await rhel.must('mkdir -p /etc/story; echo old >/etc/story/file')
    await holdSync('/etc/story/.drover.*')
    const playbook = writePlaybook(lab, 'leftover', [file('file', '/etc/story/file', 'new\n')])
    const process = startDrover(lab, ['run', playbook, '-l', 'rhel9'], { inventory })
    await whileHeld(() => rhel.must('systemctl kill --kill-whom=all --signal=KILL "$1"', [apply]))
    const run = await process.ended
    expect(run.host('rhel9')).toMatchObject({ outcome: 'failed', error: { code: 'apply-incomplete' } })
    expect(await rhel.must('cat /etc/story/file')).toBe('old')
    const left = await leftovers(rhel)
    expect(left).toMatch(/^\/etc\/story\/\.drover\.[^\n]+$/)

    const next = await drover(lab, ['run', playbook, '-l', 'rhel9'], { inventory })
    expect(next.code, next.stdout + next.stderr).toBe(0)
    expect(changesOf(next.host('rhel9'))).toEqual([
      `remove ${left} and all in it`,
      'write /etc/story/file (0644 root:root, 4 bytes)',
    ])
    expect(await rhel.must('cat /etc/story/file')).toBe('new')
    expect(await leftovers(rhel)).toBe('')
  })
})

describe('E4 Ctrl-C', () => {
  test('once: the host under way is finished, no other is started, exit code 130', async () => {
    const playbook = writePlaybook(lab, 'once', [gated('once'), file('after', '/etc/once', 'whole\n')])
    const process = startDrover(lab, ['run', playbook, '-f', '1'], { inventory })
    const { host: name } = await process.until('change-started')
    const [begun, other] = name === 'rhel9' ? [rhel, acl] : [acl, rhel]
    await process.interrupt('interrupted:')
    await letThrough(begun, 'once')
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(130)
    expect(run.host(begun.name)).toMatchObject({ outcome: 'changed', changes: 2, error: null })
    expect(await begun.must('cat /etc/once')).toBe('whole')
    expect(run.host(other.name)).toMatchObject({ outcome: 'cancelled', changes: 0 })
    expect(execsOf(run, other.name)).toEqual([])
    expect(run.report).toMatchObject({ interrupted: true, exitCode: 130 })
  })

  test('twice: the apply units are stopped, exit code 130, the hosts are whole and free, and the next run finishes the work', async () => {
    const steps = (seconds: number): object[] => [
      file('before', '/etc/twice-before', 'whole\n'),
      slow(seconds, '/run/twice'),
      file('after', '/etc/twice', 'whole\n'),
    ]
    const process = startDrover(lab, ['run', writePlaybook(lab, 'twice', steps(45))], { inventory })
    await each(
      async (host) =>
        void (await process.until('change-started', (event) => event.host === host.name && event.step === 'slow')),
    )
    await process.interrupt('interrupted:')
    await process.interrupt('interrupted again:')
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(130)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'cancelled', changes: 1, error: { code: 'cancelled' } })
      expect(await property(host, apply, 'ActiveState')).toBe('inactive')
      expect((await host.sh('pgrep -x sleep -a | grep -c " 45"')).stdout.trim()).toBe('0')
      expect(await host.must('cat /etc/twice-before')).toBe('whole')
      expect(
        await Promise.all(['/etc/twice', '/run/twice', '/run/drover/lease'].map((path) => exists(host, path))),
      ).toEqual([false, false, false])
      expect(await leftovers(host)).toBe('')
    })
    const next = await drover(lab, ['run', writePlaybook(lab, 'twice', steps(0))], { inventory })
    expect(next.code, next.stdout + next.stderr).toBe(0)
    await each(async (host) => expect(await host.must('cat /etc/twice')).toBe('whole'))
  })
})
