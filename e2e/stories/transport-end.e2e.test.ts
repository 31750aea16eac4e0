import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { sshAnswers, until } from '../lab/wait.ts'
import { applyUnit, left, progressOf, threeSteps, untilReconnected, untilStarted, whole } from '../support/apply.ts'
import { type DroverEnd, drover, startDrover } from '../support/drover.ts'
import { file, letThrough, writePlaybook } from '../support/playbook.ts'
import { hostsFile, knowPort } from '../support/sshd.ts'
import { property } from '../support/units.ts'
import { cut, hostsOver } from '../support/wire.ts'

/**
 * Story: an apply ends as it was told to, with all that it started, whatever that does and whoever runs it. Two pairs of
 * hosts, each with either systemd and either transport: what takes its time goes on side by side.
 */

let lab: Lab
let hosts: LabHost[]
let one: LabHost[]
let two: LabHost[]
let inventory: string

beforeAll(async () => {
  lab = await openLab('transport-end', { yes: true })
  hosts = await Promise.all([
    lab.boot({ name: 'rhel-ssh2', image: 'rhel9-like' }),
    lab.boot({ name: 'trixie-openssh', image: 'ubuntu-like' }),
    lab.boot({ name: 'rhel-openssh', image: 'rhel9-like' }),
    lab.boot({ name: 'trixie-ssh2', image: 'ubuntu-like' }),
  ])
  one = hosts.slice(0, 2)
  two = hosts.slice(2)
  inventory = hostsOver(
    lab,
    'all',
    hosts.map((host) => [host, host.name.endsWith('openssh') ? 'openssh' : 'ssh2']),
  )
})

afterAll(() => lab?.close())

const each = async (some: readonly LabHost[], check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all(some.map((host) => check(host)))
}

const begin = (some: readonly LabHost[], playbook: string, ...more: string[]) =>
  startDrover(lab, ['run', playbook, '-l', some.map(({ name }) => name).join(','), ...more], { inventory })

const command = (name: string, script: string, more: object = {}): object => ({
  name,
  task: 'command',
  with: { argv: ['sh', '-c', script], creates: `/run/${name}`, ...more },
})

const sleeping = (host: LabHost, seconds: number): Promise<string> =>
  host.must(`pgrep -fxc "(/usr/bin/)?sleep ${seconds}" || :`)

const twice = async (process: ReturnType<typeof startDrover>): Promise<DroverEnd> => {
  await process.interrupt('interrupted:')
  await process.interrupt('interrupted again:')
  return await process.ended
}

describe('with all that it started', () => {
  /** Children that do not want to end, each in another way. */
  const stubborn = (seconds: number): string =>
    [
      `(trap '' TERM; sleep ${seconds}; sleep ${seconds}) &`,
      `setsid nohup sleep ${seconds} >/dev/null 2>&1 &`,
      `(setsid sh -c '(sleep ${seconds} &)' &)`,
      `setsid systemd-run --quiet --scope --unit=left sleep ${seconds} &`,
      'echo about to wait',
      `sleep ${seconds}`,
    ].join('\n')
  const endless = (name: string, seconds: number, more: object = {}): string =>
    writePlaybook(lab, name, [
      file('before', `/etc/${name}`, 'whole\n'),
      { ...command('endless', stubborn(seconds)), ...more },
    ])

  /** The one that has left the unit is all that there still is; then none. */
  const onlyLeft = async (host: LabHost, seconds: number): Promise<void> => {
    expect(await sleeping(host, seconds)).toBe('1')
    await host.must('systemctl stop left.scope')
    expect(await property(host, applyUnit, 'ActiveState')).toBe('inactive')
    expect(await left(host)).toBe('')
  }

  test.concurrent('by a second Ctrl-C: none is left but who has left the unit, and that one is named', async () => {
    const process = begin(one, endless('twice', 901))
    await each(one, async (host) => {
      await untilStarted(process, host, 'endless')
      await until(`the children on ${host.name}`, 60_000, async () =>
        (await sleeping(host, 901)) === '5' ? true : undefined,
      )
    })
    const run = await twice(process)
    expect(run.code, run.stdout + run.stderr).toBe(130)
    await each(one, async (host) => {
      const { outcome, changes, error } = run.host(host.name)
      expect([outcome, changes, error?.code]).toEqual(['cancelled', 1, 'cancelled'])
      expect(error?.message).toMatch(/the apply was cut during 'run sh -c/)
      expect(error?.detail).toMatch(
        /about to wait\n(.*\n)*What goes on there by itself:\n(.*\n)*process \d+: \S*sleep 901/,
      )
      await onlyLeft(host, 901)
    })
  })

  test.concurrent('by --timeout and by the timeout of a step, which the host itself keeps to', async () => {
    const [byOption, byStep] = two as [LabHost, LabHost]
    const runs = await Promise.all([
      begin([byOption], endless('option', 902), '--timeout', '4s').ended,
      begin([byStep], endless('step', 902, { timeout: '4s' }), '--timeout', '10m').ended,
    ])
    await each(two, async (host) => {
      const run = runs[two.indexOf(host)] as DroverEnd
      const { outcome, error } = run.host(host.name)
      expect([run.code, outcome, error?.code, error?.step]).toEqual([2, 'failed', 'step-timeout', 'endless'])
      expect(error?.message).toMatch(/^The step 'endless' did not end within 4 s and was cut during 'run sh -c/)
      expect(error?.detail).toMatch(/about to wait\n(.*\n)*process \d+: \S*sleep 902/)
      await onlyLeft(host, 902)
    })
  })
})

describe('while packages are installed', () => {
  /** A package manager that takes its time, and would leave the host broken if it were cut. */
  const slowManager = async (host: LabHost, seconds: number): Promise<void> => {
    const apt = `#!/bin/sh
case " $* " in *' install '*) ;; *) exit 0 ;; esac
: >/run/installing; sleep ${seconds}; rm -f /run/installing; : >/run/installed\n`
    const query = '#!/bin/sh\n[ ! -e /run/installed ] || echo "installed slow-package 1"\n'
    await host.put('/usr/local/sbin/apt-get', apt, '0755')
    await host.put('/usr/local/sbin/dpkg-query', query, '0755')
  }
  const installs = (name: string, more: object = {}): string =>
    writePlaybook(lab, name, [
      { name: 'package', task: 'package-present', with: { names: ['slow-package'] }, ...more },
      file('after', '/etc/package-after', 'whole\n'),
    ])
  const only = ['started package', 'done package']

  test.concurrent('a cut connection is no matter', async () => {
    await each(one, (host) => slowManager(host, 4))
    const process = begin(one, installs('package-cut'))
    await each(one, async (host) => {
      await untilStarted(process, host, 'package')
      await cut(host)
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(one, async (host) =>
      expect(progressOf(run, host.name)).toEqual([...only, 'started after', 'done after']),
    )
  })

  test.concurrent('a second Ctrl-C and a limit wait for the package manager, and let nothing begin after it', async () => {
    // Longer than others are given.
    await each(two, (host) => slowManager(host, 13))
    const process = begin(two, installs('package-cancel', { timeout: '2s' }))
    await each(two, (host) => untilStarted(process, host, 'package'))
    const run = await twice(process)
    expect(run.code, run.stdout + run.stderr).toBe(130)
    await each(two, async (host) => {
      expect(run.host(host.name)).toMatchObject({ changes: 1 })
      expect(progressOf(run, host.name)).toEqual(only)
      expect(await host.must('ls /run/installed; ls /run/installing /etc/package-after 2>/dev/null || :')).toBe(
        '/run/installed',
      )
      expect(await left(host)).toBe('')
    })
  })
})

describe('with output that does not', () => {
  test.concurrent('100 MB: the first and the last of it are kept, the command and /run do not mind', async () => {
    const script = 'echo first; yes xxx 2>/dev/null | head -c 100000000; echo last; exit 7'
    const run = await begin(one, writePlaybook(lab, 'loud', [command('loud', script)])).ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(one, async (host) => {
      const { error } = run.host(host.name)
      expect(error).toMatchObject({ code: 'change-failed', message: expect.stringContaining('(exit code 7)') })
      expect(error?.detail).toMatch(/xxx\nlast$/)
      expect(await left(host)).toBe('')
    })
  })

  test.concurrent('for ever, under a limit; and a daemon that keeps the output open does not hold up the rest', async () => {
    const steps = [
      command('daemon', 'echo ready; : >/run/daemon; setsid sh -c "while sleep 1; do echo still here; done" &'),
      command('yes', 'yes', { timeout_s: 3 }),
    ]
    const run = await begin(two, writePlaybook(lab, 'yes', steps)).ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(two, async (host) => {
      expect(run.host(host.name)).toMatchObject({ changes: 1, error: { code: 'change-failed', step: 'yes' } })
      expect(await left(host)).toBe('')
    })
  })
})

describe('where systemd does not start it', () => {
  const broken = '#!/bin/sh\necho "Failed to connect to bus: Connection timed out" >&2; exit 1\n'

  beforeAll(() => each(hosts, (host) => host.put('/usr/local/sbin/systemd-run', broken, '0755')))

  test('a process group does, survives a cut as well, and that is said', async () => {
    const process = begin(hosts, writePlaybook(lab, 'group', threeSteps('group')))
    await each(hosts, async (host) => {
      await untilStarted(process, host, 'slow')
      await cut(host)
      await untilReconnected(process, host)
      await letThrough(host, 'group')
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(hosts, async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 3 })
      expect(progressOf(run, host.name)).toEqual(whole)
      expect(await left(host)).toBe('')
    })
    expect(run.report?.notices.map(({ message }) => message)).toContain(
      'the changes ran in a process group and not under systemd, since systemd would not: Failed to connect to bus: Connection timed out',
    )
  })

  test('a host that was not booted with systemd is changed by one, too', async () => {
    const [host] = one as [LabHost]
    await host.must(
      '/usr/bin/systemd-run --quiet --collect --unit=bare unshare -m sh -c "mount -t tmpfs none /run/systemd && exec /usr/sbin/sshd -D -e -p 2222 -o PidFile=none"',
    )
    await knowPort(lab, host, 2222)
    await until('the sshd without systemd', 60_000, async () =>
      (await sshAnswers(host.address, 2222)) ? true : undefined,
    )
    await letThrough(host, 'bare')
    const bare = hostsFile(lab, 'bare', { bare: { address: host.address, port: 2222, user: 'root' } })
    const run = await drover(lab, ['run', writePlaybook(lab, 'bare', threeSteps('bare'))], { inventory: bare })
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(progressOf(run, 'bare')).toEqual(whole)
    expect(run.report?.notices.map(({ message }) => message)).toContain(
      'the changes ran in a process group and not under systemd, since the host was not booted with systemd',
    )
    expect(await left(host)).toBe('')
    await host.must('systemctl stop bare.service')
  })

  describe('and what is begun', () => {
    const endless = (name: string): string =>
      writePlaybook(lab, name, [
        command('endless', '(trap "" TERM; setsid sleep 903) & (setsid sleep 903 &); sleep 903'),
      ])
    const nothingLeft = async (host: LabHost): Promise<void> => {
      expect(await sleeping(host, 903)).toBe('0')
      expect(await left(host)).toBe('')
    }

    test.concurrent('is one at a time, and ended by Ctrl-C', async () => {
      const playbook = endless('group-cancel')
      const process = begin(one, playbook)
      await each(one, (host) => untilStarted(process, host, 'endless'))
      const second = await begin(one, playbook).ended
      const run = await twice(process)
      expect(run.code, run.stdout + run.stderr).toBe(130)
      await each(one, async (host) => {
        expect(second.host(host.name)).toMatchObject({
          outcome: 'blocked',
          error: { code: 'locked', message: expect.stringMatching(/drover run .* s more at the most/) },
        })
        expect(run.host(host.name)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } })
        await nothingLeft(host)
      })
    })

    test.concurrent('is ended by its limit', async () => {
      const run = await begin(two, endless('group-limit'), '--timeout', '1').ended
      await each(two, async (host) => {
        expect(run.host(host.name), run.stdout + run.stderr).toMatchObject({
          outcome: 'failed',
          error: { code: 'step-timeout' },
        })
        await nothingLeft(host)
      })
    })
  })
})
