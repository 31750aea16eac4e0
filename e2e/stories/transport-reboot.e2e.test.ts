import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, type DroverProcess, drover, execsOf, startDrover } from '../support/drover.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { hostsFile } from '../support/sshd.ts'
import { exists, mainPid, states } from '../support/units.ts'
import { hostsOver } from '../support/wire.ts'

/**
 * Story: a reboot as a change: down, up, another boot, and then what the steps want. Every run is of a systemd 252 over
 * ssh2 and a 257 over OpenSSH; what takes its time goes on side by side on other hosts.
 */

let lab: Lab
/** With a real worker. */
let workers: [rhel: LabHost, trixie: LabHost]
let bare: [rhel: LabHost, trixie: LabHost]
let inventory: string

beforeAll(async () => {
  lab = await openLab('transport-reboot', { yes: true })
  const [rhel, trixie, ...others] = await Promise.all([
    lab.boot({ name: 'rhel-worker', image: 'rhel9-like', agent: 'new', worker: 'real' }),
    lab.boot({ name: 'trixie-worker', image: 'ubuntu-like', agent: 'new', worker: 'real' }),
    lab.boot({ name: 'rhel-bare', image: 'rhel9-like' }),
    lab.boot({ name: 'trixie-bare', image: 'ubuntu-like' }),
  ])
  workers = [rhel, trixie]
  bare = others
  inventory = hostsOver(
    lab,
    'all',
    [...workers, ...bare].map((host) => [host, host.name.startsWith('rhel') ? 'ssh2' : 'openssh']),
  )
})

afterAll(() => lab?.close())

const rebooted = (within_s: number | string, when = 'always'): object => ({
  name: 'boot',
  task: 'host-rebooted',
  with: { when, within_s },
})
const after = file('after', '/etc/after', 'x\n')

const named = (hosts: readonly LabHost[]): string[] => ['-l', hosts.map(({ name }) => name).join(',')]
const begin = (hosts: readonly LabHost[], name: string, steps: readonly object[], ...more: string[]): DroverProcess =>
  startDrover(lab, ['run', writePlaybook(lab, name, steps), ...named(hosts), ...more], { inventory })

const each = async (hosts: readonly LabHost[], check: (host: LabHost) => Promise<unknown>): Promise<void> => {
  await Promise.all(hosts.map((host) => check(host)))
}

const boots = async (hosts: readonly LabHost[]): Promise<(host: LabHost) => string> => {
  const all = new Map(await Promise.all(hosts.map(async (host) => [host, await host.pid1Start()] as const)))
  return (host) => all.get(host) ?? ''
}

const untilTold = async (process: DroverProcess, host: LabHost): Promise<void> => {
  await process.until('exec', (event) => event.host === host.name && event.verb === 'reboot')
}

describe('a reboot', () => {
  test.concurrent('with a worker to come up: checked, made between what comes before and after it, and known on the host', async () => {
    const worker = { name: 'worker', task: 'worker-running', with: { stable_s: 1, within_s: 60 } }
    const steps = [file('before', '/etc/before', 'x\n'), rebooted(120), worker]
    const bootOf = await boots(workers)
    const check = await begin(workers, 'real', steps, '--check').ended
    expect(check.code, check.stdout + check.stderr).toBe(0)
    expect(check.stdout).toContain('would change: [rhel-worker] boot: reboot')
    for (const { name } of workers) {
      expect(check.host(name)).toMatchObject({ outcome: 'would-change', changes: 2 })
      expect(check.host(name).steps.map(({ result }) => result)).toEqual(['would-change', 'would-change', 'unknown'])
    }
    const still = await boots(workers)
    for (const host of workers) expect(still(host)).toBe(bootOf(host))

    const pids = new Map(
      await Promise.all(workers.map(async (host) => [host, await mainPid(host, WORKER_UNIT)] as const)),
    )
    const run = await begin(workers, 'real', steps).ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.stdout).toContain('waiting: [rhel-worker] boot: reboot (at most 2 min 00 s)')
    await each(workers, async (host) => {
      const report = run.host(host.name)
      expect(report.outcome, run.stdout).toBe('changed')
      expect(changesOf(report).slice(0, 2)).toEqual(['write /etc/before (0644 root:root, 2 bytes)', 'reboot'])
      const boot = await host.pid1Start()
      expect(boot).not.toBe(bootOf(host))
      expect(report.machine?.pid1Start).toBe(boot)
      expect((await states(host)).worker).toBe('active')
      expect(await mainPid(host, WORKER_UNIT)).not.toBe(pids.get(host))
      // The lease of the lane is given up, too.
      expect([await exists(host, '/etc/before'), await exists(host, '/run/drover/lease')]).toEqual([true, false])
      expect(execsOf(run, host.name).slice(0, 3)).toEqual(['inspect', 'apply', 'reboot'])
      expect(execsOf(run, host.name).at(-1)).toBe('verify')
      // A wait that was declared is no stall.
      expect(report.stalled).toBeNull()
      expect(await host.must('journalctl -q --no-pager -t drover -o cat')).toMatch(
        /by e2e@lab, 1 changes to make: reboot/,
      )
    })
  })

  test.concurrent('where it is required: a host with the sign of its family is booted, one without is left alone', async () => {
    const [rhel, trixie] = bare
    // What dnf-utils brings on RHEL, as far as the task looks at it.
    await rhel.put(
      '/usr/local/bin/needs-restarting',
      '#!/bin/sh\n[ -e /run/updated ] || exit 0\necho "Reboot is required to fully utilize these updates."\nexit 1\n',
      '0755',
    )
    await Promise.all([rhel.must('touch /run/updated'), trixie.must('touch /run/reboot-required')])
    const bootOf = await boots(bare)
    const run = await begin(bare, 'required', [rebooted(120, 'required')]).ended
    expect(run.report?.totals.changed, run.stdout + run.stderr).toBe(2)
    await each(bare, async (host) => {
      expect(await host.pid1Start()).not.toBe(bootOf(host))
      expect(await host.must('ls /run/updated /run/reboot-required 2>/dev/null || :')).toBe('')
    })
    const again = await begin(bare, 'required', [rebooted(120, 'required')]).ended
    expect(again.report?.totals.unchanged, again.stdout + again.stderr).toBe(2)
  })
})

describe('a reboot that', () => {
  test.concurrent('a logind without an answer holds up is held up for as long as that is asked, and no longer', async () => {
    const bootOf = await boots(workers)
    // As a step, since a login would wait for it, too.
    const mark = '/etc/logind-frozen'
    const argv = ['sh', '-c', 'systemctl kill --signal=STOP systemd-logind.service && : >"$1"', 'freeze', mark]
    const run = await begin(workers, 'logind', [
      { name: 'freeze', task: 'command', with: { argv, creates: mark } },
      rebooted(120),
    ]).ended
    await each(workers, async (host) => {
      expect(run.host(host.name).outcome, run.stdout + run.stderr).toBe('changed')
      expect(await host.pid1Start()).not.toBe(bootOf(host))
    })
  })

  test.concurrent('one Ctrl-C falls into: the host comes up and is looked at, and nothing more is begun', async () => {
    const bootOf = await boots(bare)
    const run = begin(bare, 'once', [rebooted(120), after])
    await each(bare, (host) =>
      run.until('change-started', (event) => event.host === host.name && event.summary === 'reboot'),
    )
    await run.interrupt('end what they are doing')
    const end = await run.ended
    expect(end.code, end.stdout + end.stderr).toBe(130)
    await each(bare, async (host) => {
      expect(end.host(host.name).steps).toMatchObject([
        { step: 'boot', result: 'changed' },
        { step: 'after', error: { code: 'cancelled' } },
      ])
      expect(await host.pid1Start()).not.toBe(bootOf(host))
      expect(await exists(host, '/etc/after')).toBe(false)
    })
  })
})

test('a second Ctrl-C leaves the hosts at once, and says that they go on rebooting', async () => {
  const bootOf = await boots(bare)
  const run = begin(bare, 'twice', [rebooted(120), after])
  await each(bare, (host) => untilTold(run, host))
  await run.interrupt('end what they are doing')
  await run.interrupt('is being stopped')
  const end = await run.ended
  expect(end.code, end.stdout + end.stderr).toBe(130)
  await each(bare, async (host) => {
    expect(end.host(host.name).error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('rebooting, which goes on'),
    })
    await host.untilRebooted(bootOf(host))
  })
})

describe('a reboot comes to nothing', () => {
  /** Neither logind nor PID 1 can start what is masked. */
  const hold = (host: LabHost): Promise<string> => host.must('systemctl mask --quiet --runtime reboot.target')
  const release = (host: LabHost): Promise<string> => host.must('systemctl unmask --quiet --runtime reboot.target')

  test.concurrent('never goes down: that is what it says', async () => {
    await each(bare, hold)
    const bootOf = await boots(bare)
    const run = await begin(bare, 'held', [rebooted(10)]).ended
    await each(bare, async (host) => {
      await release(host)
      expect(run.host(host.name), run.stdout + run.stderr).toMatchObject({
        outcome: 'failed',
        error: {
          code: 'reboot-timeout',
          message: 'The host was told to reboot and never went down within 10 s.',
        },
      })
      expect(await host.pid1Start()).toBe(bootOf(host))
    })
  })

  test.concurrent('only its network was gone: the same boot is not taken for another', async () => {
    await each(workers, hold)
    const run = begin(workers, 'blip', [rebooted(20)])
    await each(workers, async (host) => {
      await untilTold(run, host)
      await host.must('systemctl stop ssh.service; pkill -KILL sshd; sleep 2; systemctl start ssh.service')
    })
    const end = await run.ended
    await each(workers, async (host) => {
      await release(host)
      expect(end.host(host.name).error, end.stdout + end.stderr).toMatchObject({
        code: 'reboot-timeout',
        message: expect.stringContaining('on the same boot as before'),
      })
    })
  })
})

describe('what comes up', () => {
  test.concurrent('is another machine, by its machine-id: nothing further is done', async () => {
    const ids = new Map(
      await Promise.all(bare.map(async (host) => [host, await host.must('cat /etc/machine-id')] as const)),
    )
    const swap = 'echo 0123456789abcdef0123456789abcdef >/etc/machine-id; : >/etc/swapped'
    const run = await begin(bare, 'wrong', [
      { name: 'swap', task: 'command', with: { argv: ['sh', '-c', swap], creates: '/etc/swapped' } },
      rebooted(120),
      after,
    ]).ended
    expect(run.code).toBe(2)
    await each(bare, async (host) => {
      const { error } = run.host(host.name)
      expect(error, run.stdout + run.stderr).toMatchObject({ code: 'wrong-machine', step: 'boot' })
      expect(error?.message).toContain(ids.get(host))
      expect(await exists(host, '/etc/after')).toBe(false)
      await host.must('echo "$1" >/etc/machine-id', [ids.get(host) ?? ''])
    })
  })

  test.concurrent('has another host key: final, also where new hosts are accepted', async () => {
    const [strict, accepting] = workers
    const policies = hostsFile(lab, 'policies', {
      [strict.name]: { ...strict.inventoryEntry, transport: 'ssh2', host_key_policy: 'strict' },
      [accepting.name]: { ...accepting.inventoryEntry, transport: 'openssh', host_key_policy: 'accept-new' },
    })
    const regenerate = 'mkdir -p /etc/ssh/old && mv /etc/ssh/ssh_host_* /etc/ssh/old/ && ssh-keygen -q -A && : >"$1"'
    const argv = ['sh', '-c', regenerate, 'keys', '/etc/ssh/new']
    const keys = { name: 'keys', task: 'command', with: { argv, creates: '/etc/ssh/new', timeout_s: 60 } }
    const playbook = writePlaybook(lab, 'keys', [keys, rebooted(120), after])
    const bootOf = await boots(workers)
    try {
      const run = await drover(lab, ['run', playbook], { inventory: policies })
      await each(workers, async (host) => {
        const { outcome, error } = run.host(host.name)
        expect([outcome, error?.code, error?.step], run.stdout + run.stderr).toEqual([
          'failed',
          'host-key-changed',
          'boot',
        ])
        await host.untilRebooted(bootOf(host))
        expect([await exists(host, '/etc/ssh/new'), await exists(host, '/etc/after')]).toEqual([true, false])
      })
    } finally {
      await each(workers, (host) =>
        host.must('rm /etc/ssh/ssh_host_* && mv /etc/ssh/old/* /etc/ssh/ && systemctl restart ssh.service'),
      )
    }
  })
})

test('hosts that never come up are told of, and another one is none the worse', async () => {
  const [well, other] = bare
  const gone = [workers[0], other] as const
  const within = hostsFile(lab, 'gone', {
    [well.name]: { ...well.inventoryEntry, vars: { within: 120 } },
    [gone[0].name]: { ...gone[0].inventoryEntry, transport: 'ssh2', vars: { within: 20 } },
    [gone[1].name]: { ...gone[1].inventoryEntry, transport: 'openssh', vars: { within: 20 } },
  })
  const playbook = writePlaybook(lab, 'gone', [rebooted('${within}')])
  // What serves them now goes on, and nothing does after the boot.
  await each(gone, (host) => host.must('systemctl mask --quiet ssh.service'))
  const end = await drover(lab, ['run', playbook], { inventory: within })
  for (const host of gone) {
    expect(end.host(host.name), end.stdout + end.stderr).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'reboot-timeout',
        message: expect.stringMatching(/went down to reboot and was not reached again within 20 s: /),
      },
    })
  }
  expect(end.host(well.name).outcome).toBe('changed')
})
