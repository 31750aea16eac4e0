import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, drover, execsOf, startDrover } from '../support/drover.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { exists, mainPid, states } from '../support/units.ts'

/** Story: a reboot as a change: down, up, another boot, and then what the steps want. */

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
/** One to be broken for good. */
let spare: LabHost

beforeAll(async () => {
  lab = await openLab('reboot-change', { yes: true })
  ;[rhel, ubuntu, spare] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', worker: 'real' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'new', worker: 'real' }),
    lab.boot({ name: 'spare', image: 'rhel9-like' }),
  ])
})

afterAll(() => lab?.close())

const rebooted = (within_s: number, when = 'always'): object => ({
  name: 'boot',
  task: 'host-rebooted',
  with: { when, within_s },
})

const boots = (): Promise<string[]> => Promise.all([rhel, ubuntu].map((host) => host.pid1Start()))

const worker = { name: 'worker', task: 'worker-running', with: { stable_s: 1, within_s: 60 } }

describe('on systemd 252 and 257, with a real worker', () => {
  const wanted = (mark: string): object[] => [file('before', `/etc/before-${mark}`, 'x\n'), rebooted(120), worker]

  test('--check says what would change, what is known only after it, and reboots nothing', async () => {
    const before = await boots()
    const run = await drover(lab, [
      'run',
      writePlaybook(lab, 'check', wanted('check')),
      '--check',
      '-l',
      'rhel9,ubuntu24',
    ])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    for (const { name } of [rhel, ubuntu]) {
      expect(run.host(name)).toMatchObject({ outcome: 'would-change', changes: 2 })
      expect(run.host(name).steps.map(({ result }) => result)).toEqual(['would-change', 'would-change', 'unknown'])
    }
    expect(run.stdout).toContain('would change: [rhel9] boot: reboot')
    expect(await boots()).toEqual(before)
  })

  test('what comes before it is done before it, it is another boot afterwards, and the worker is up again', async () => {
    const before = await boots()
    const workers = await Promise.all([rhel, ubuntu].map((host) => mainPid(host, WORKER_UNIT)))
    const run = await drover(lab, ['run', writePlaybook(lab, 'real', wanted('real')), '-l', 'rhel9,ubuntu24'])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    const after = await boots()
    for (const [index, host] of [rhel, ubuntu].entries()) {
      const report = run.host(host.name)
      expect(report.outcome, run.stdout).toBe('changed')
      expect(changesOf(report).slice(0, 2)).toEqual(['write /etc/before-real (0644 root:root, 2 bytes)', 'reboot'])
      expect(after[index]).not.toBe(before[index])
      expect(report.machine?.pid1Start).toBe(after[index])
      expect((await states(host)).worker).toBe('active')
      expect(await mainPid(host, WORKER_UNIT)).not.toBe(workers[index])
      expect(await exists(host, '/etc/before-real')).toBe(true)
      // The lease of the lane is given up, too.
      expect(await exists(host, '/run/drover/lease')).toBe(false)
      expect(execsOf(run, host.name).slice(0, 3)).toEqual(['inspect', 'apply', 'reboot'])
      expect(execsOf(run, host.name).at(-1)).toBe('verify')
      // A wait that was declared is no stall.
      expect(report.stalled).toBeNull()
    }
    expect(run.stdout).toContain('waiting: [rhel9] boot: reboot (at most 2 min 00 s)')
  })

  test('the host says in its journal who had it reboot', async () => {
    for (const host of [rhel, ubuntu])
      expect(await host.must('journalctl -q --no-pager -t drover -o cat')).toMatch(
        /by e2e@lab, 1 changes to make: reboot/,
      )
  })
})

test('required: a host with the sign of its family is booted, one without is left alone', async () => {
  // What dnf-utils brings on RHEL, as far as the task looks at it.
  await spare.put(
    '/usr/local/bin/needs-restarting',
    '#!/bin/sh\n[ -e /run/updated ] || exit 0\necho "Reboot is required to fully utilize these updates."\nexit 1\n',
    '0755',
  )
  await Promise.all([spare.must('touch /run/updated'), ubuntu.must('touch /run/reboot-required')])
  const before = await Promise.all([spare, ubuntu].map((host) => host.pid1Start()))
  const playbook = writePlaybook(lab, 'required', [rebooted(60, 'required')])
  const run = await drover(lab, ['run', playbook, '-l', 'spare,ubuntu24'])
  expect(run.report?.totals.changed, run.stdout + run.stderr).toBe(2)
  for (const [index, host] of [spare, ubuntu].entries()) expect(await host.pid1Start()).not.toBe(before[index])
  expect(await exists(spare, '/run/updated')).toBe(false)
  expect(await exists(ubuntu, '/run/reboot-required')).toBe(false)
  const again = await drover(lab, ['run', playbook, '-l', 'spare,ubuntu24'])
  expect(again.report?.totals.unchanged, again.stdout + again.stderr).toBe(2)
})

test('a logind that does not answer holds the reboot up for as long as it is asked, and no longer', async () => {
  const before = await ubuntu.pid1Start()
  // As a step, since a login would wait for it, too.
  const mark = '/etc/logind-frozen'
  const argv = ['sh', '-c', 'systemctl kill --signal=STOP systemd-logind.service && : >"$1"', 'freeze', mark]
  const steps = [{ name: 'freeze', task: 'command', with: { argv, creates: mark } }, rebooted(90)]
  const run = await drover(lab, ['run', writePlaybook(lab, 'logind', steps), '-l', 'ubuntu24'])
  expect(run.host('ubuntu24').outcome, run.stdout + run.stderr).toBe('changed')
  expect(await ubuntu.pid1Start()).not.toBe(before)
})

describe('Ctrl-C', () => {
  const two = (): string => writePlaybook(lab, 'two', [rebooted(60), file('after', '/etc/after', 'x\n')])

  test('once: the host comes up and is looked at, and nothing more is begun', async () => {
    const before = await spare.pid1Start()
    const run = startDrover(lab, ['run', two(), '-l', 'spare'])
    await run.until('change-started', ({ summary }) => summary === 'reboot')
    await run.interrupt('end what they are doing')
    const end = await run.ended
    expect(end.code, end.stdout + end.stderr).toBe(130)
    expect(end.host('spare').steps).toMatchObject([
      { step: 'boot', result: 'changed' },
      { step: 'after', error: { code: 'cancelled' } },
    ])
    expect(await spare.pid1Start()).not.toBe(before)
    expect(await exists(spare, '/etc/after')).toBe(false)
  })

  test('twice: it is left at once, and the host is said to go on rebooting', async () => {
    const before = await spare.pid1Start()
    const run = startDrover(lab, ['run', two(), '-l', 'spare'])
    await run.until('exec', ({ verb }) => verb === 'reboot')
    await run.interrupt('end what they are doing')
    await run.interrupt('is being stopped')
    const end = await run.ended
    expect(end.code, end.stdout + end.stderr).toBe(130)
    expect(end.host('spare').error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('rebooting, which goes on'),
    })
    await spare.untilRebooted(before)
  })
})

describe('a reboot that comes to nothing', () => {
  /** Neither logind nor PID 1 can start what is masked. */
  const hold = (): Promise<string> => spare.must('systemctl mask --quiet --runtime reboot.target')
  beforeEach(() => spare.must('systemctl unmask --quiet --runtime reboot.target'))

  test('another machine-id at the address afterwards: wrong-machine, and nothing further is done', async () => {
    const id = await spare.must('cat /etc/machine-id')
    const steps = [
      {
        name: 'swap',
        task: 'command',
        with: {
          argv: ['sh', '-c', 'echo 0123456789abcdef0123456789abcdef >/etc/machine-id; : >/etc/swapped'],
          creates: '/etc/swapped',
        },
      },
      rebooted(60),
      file('after', '/etc/after', 'x\n'),
    ]
    const run = await drover(lab, ['run', writePlaybook(lab, 'wrong', steps), '-l', 'spare'])
    expect(run.host('spare').error, run.stdout + run.stderr).toMatchObject({ code: 'wrong-machine', step: 'boot' })
    expect(run.host('spare').error?.message).toContain(id)
    expect(run.code).toBe(2)
    expect(await exists(spare, '/etc/after')).toBe(false)
    await spare.must('echo "$1" >/etc/machine-id', [id])
  })

  test('never goes down: that is what it says', async () => {
    await hold()
    const before = await spare.pid1Start()
    const run = await drover(lab, ['run', writePlaybook(lab, 'held', [rebooted(10)]), '-l', 'spare'])
    expect(run.host('spare').error, run.stdout + run.stderr).toMatchObject({
      code: 'reboot-timeout',
      message: 'The host was told to reboot and never went down within 10 s.',
    })
    expect(run.host('spare').outcome).toBe('failed')
    expect(await spare.pid1Start()).toBe(before)
  })

  test('only its network was gone: the same boot is not taken for another', async () => {
    await hold()
    const run = startDrover(lab, ['run', writePlaybook(lab, 'blip', [rebooted(20)]), '-l', 'spare'])
    await run.until('exec', ({ verb }) => verb === 'reboot')
    const away = spare.must('systemctl stop ssh.service; pkill -KILL sshd; sleep 3; systemctl start ssh.service')
    const end = await run.ended
    await away
    expect(end.host('spare').error, end.stdout + end.stderr).toMatchObject({
      code: 'reboot-timeout',
      message: expect.stringContaining('on the same boot as before'),
    })
  })

  test('comes up with another host key: host-key-changed, and final', async () => {
    const mark = '/etc/ssh/new'
    const regenerate = 'mkdir -p /etc/ssh/old && mv /etc/ssh/ssh_host_* /etc/ssh/old/ && ssh-keygen -q -A && : >"$1"'
    const argv = ['sh', '-c', regenerate, 'keys', mark]
    const steps = [
      { name: 'keys', task: 'command', with: { argv, creates: mark, timeout_s: 60 } },
      rebooted(170),
      file('after', '/etc/after', 'x\n'),
    ]
    const before = await spare.pid1Start()
    try {
      const run = await drover(lab, ['run', writePlaybook(lab, 'keys', steps), '-l', 'spare'], { timeoutMs: 175_000 })
      expect(run.host('spare').error, run.stdout + run.stderr).toMatchObject({ code: 'host-key-changed', step: 'boot' })
      expect(run.host('spare').outcome).toBe('failed')
      await spare.untilRebooted(before)
      expect(await exists(spare, mark)).toBe(true)
      expect(await exists(spare, '/etc/after')).toBe(false)
    } finally {
      await spare.must('rm /etc/ssh/ssh_host_* && mv /etc/ssh/old/* /etc/ssh/ && systemctl restart ssh.service')
    }
  })

  test('never comes up: that is what it says, and its other hosts are none the worse', async () => {
    const playbook = writePlaybook(lab, 'gone', [rebooted(20)])
    const run = startDrover(lab, ['run', playbook, '-l', 'spare,ubuntu24'])
    await run.until('exec', ({ verb, host }) => verb === 'reboot' && host === 'spare')
    await spare.stop()
    const end = await run.ended
    expect(end.host('spare').error, end.stdout + end.stderr).toMatchObject({
      code: 'reboot-timeout',
      message: expect.stringMatching(/went down to reboot and was not reached again within 20 s: /),
    })
    expect(end.host('spare').outcome).toBe('failed')
    expect(end.host('ubuntu24').outcome).toBe('changed')
  })
})
