import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { sshAnswers, until } from '../lab/wait.ts'
import { type DroverEnd, drover, execsOf, startDrover } from '../support/drover.ts'
import { file, slow, writePlaybook } from '../support/playbook.ts'
import { hostsFile, knowPort } from '../support/sshd.ts'
import { exists, property } from '../support/units.ts'

/** Story: an apply survives the wire. Whatever becomes of the connection, it is done once, whole, and told of once. */

const unit = 'drover-apply.service'

let lab: Lab
/** systemd 252. */
let rhel: LabHost
/** systemd 257. */
let ubuntu: LabHost

beforeAll(async () => {
  lab = await openLab('transport-apply', { yes: true })
  ;[rhel, ubuntu] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like' }),
    lab.boot({ name: 'trixie', image: 'ubuntu-like' }),
  ])
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all([rhel, ubuntu].map((host) => check(host)))
}

/** Ends the processes of sshd that serve a login, as a crash or an administrator would. */
const cut = (host: LabHost, signal = 'KILL'): Promise<unknown> =>
  host.sh('pkill -"$1" -f "^sshd.*: root(@|$| \\[)"', [signal])

/** What an apply leaves while it is not over; the locks stay. */
const left = (host: LabHost): Promise<string> =>
  host.must('ls -A /run/drover | grep -vxE "mutex|starting|until|owed" || :')

const progressOf = (run: DroverEnd, host: string): string[] =>
  run.events.flatMap((event) =>
    (event.type === 'change-started' || event.type === 'change-done') && event.host === host
      ? [`${event.type.slice('change-'.length)} ${event.step}`]
      : [],
  )

const untilEvent = async (
  process: ReturnType<typeof startDrover>,
  host: LabHost,
  type: 'change-started' | 'host-reconnected' | 'host-planned',
  step?: string,
): Promise<void> => {
  await process.until(
    type,
    (event) => event.host === host.name && (step === undefined || ('step' in event && event.step === step)),
  )
}

const whole = ['started before', 'done before', 'started slow', 'done slow', 'started after', 'done after']
const steps = (name: string, seconds: number): object[] => [
  file('before', `/etc/${name}-before`, 'whole\n'),
  slow(seconds, `/run/${name}`),
  file('after', `/etc/${name}-after`, 'whole\n'),
]

/** The same hosts, where a dead connection is noticed after two seconds. */
const quick = (): string => {
  const path = join(lab.folder, 'quick.ssh')
  writeFileSync(path, 'Host *\n  ServerAliveInterval 1\n  ServerAliveCountMax 2\n')
  return path
}

describe.each(['ssh2'])('over %s', (transport) => {
  const over = ['--transport', transport].slice(0, transport === 'ssh2' ? 0 : 2)

  test('the connection is cut three times in an apply: all is made, once, and told of once and in order', async () => {
    const name = `cut-${transport}`
    const process = startDrover(lab, ['run', writePlaybook(lab, name, steps(name, 6)), ...over])
    await each(async (host) => {
      await untilEvent(process, host, 'change-started', 'slow')
      for (let count = 0; count < 3; count += 1) {
        await cut(host)
        await until(`reconnect ${count + 1} of ${host.name}`, 20_000, async () =>
          process.events().filter((event) => event.type === 'host-reconnected' && event.host === host.name).length >
          count
            ? true
            : undefined,
        )
      }
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 3, error: null })
      expect(progressOf(run, host.name)).toEqual(whole)
      expect(execsOf(run, host.name)).toEqual(['inspect', 'apply', 'apply', 'apply', 'apply', 'verify'])
      expect(await host.must(`cat /etc/${name}-before /etc/${name}-after; [ -e /run/${name} ]`)).toBe('whole\nwhole')
      expect(await left(host)).toBe('')
    })
  })

  test('half open: packets of the host are lost both ways, keepalive notices, and the rest is followed', async () => {
    const name = `half-${transport}`
    const process = startDrover(lab, ['run', writePlaybook(lab, name, steps(name, 4)), ...over, '-F', quick()])
    await each(async (host) => {
      await untilEvent(process, host, 'change-started', 'slow')
      await cut(host, 'STOP')
    })
    const run = await process.ended
    await each(async (host) => void (await cut(host)))
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 3, error: null })
      expect(progressOf(run, host.name)).toEqual(whole)
      expect(await left(host)).toBe('')
    })
  })

  test('cut while systemd is being asked to start it: two execs are at it, and it is started once', async () => {
    const name = `launch-${transport}`
    await each(async (host) => {
      await host.put(
        '/usr/local/sbin/systemd-run',
        '#!/bin/sh\necho started >>/run/starts; sleep 3; exec /usr/bin/systemd-run "$@"\n',
        '0755',
      )
    })
    const once = {
      name: 'slow',
      task: 'command',
      with: { argv: ['sh', '-c', 'echo once >>"$1"', 'slow', `/run/${name}`], creates: `/run/${name}` },
    }
    const process = startDrover(lab, ['run', writePlaybook(lab, name, [once]), ...over])
    await each(async (host) => {
      await until(`systemd-run on ${host.name}`, 20_000, async () =>
        (await exists(host, '/run/starts')) ? true : undefined,
      )
      await cut(host)
    })
    const run = await process.ended
    await each(async (host) => void (await host.must('rm -f /usr/local/sbin/systemd-run')))
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 1, error: null })
      expect(progressOf(run, host.name)).toEqual(['started slow', 'done slow'])
      expect(await host.must(`cat /run/${name} /run/starts; rm -f /run/starts`)).toBe('once\nstarted')
      expect(await left(host)).toBe('')
    })
  })

  test('cut in a look: it is made again', async () => {
    const name = `look-${transport}`
    const probe = {
      name: 'probe',
      task: 'command',
      with: {
        argv: ['touch', `/run/${name}`],
        unless: ['sh', '-c', `: >/run/looking; sleep 1; [ -e /run/${name} ]`],
      },
    }
    await each(async (host) => void (await host.must('rm -f /run/looking')))
    const process = startDrover(lab, ['run', writePlaybook(lab, name, [probe]), ...over])
    await each(async (host) => {
      await until(`the look at ${host.name}`, 20_000, async () =>
        (await exists(host, '/run/looking')) ? true : undefined,
      )
      await cut(host)
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => expect(execsOf(run, host.name)).toEqual(['inspect', 'inspect', 'apply', 'verify']))
  })
})

describe('a host that does not come back', () => {
  test('a reboot in the middle: that is said, and what the host shows of the changes', async () => {
    const process = startDrover(lab, ['run', writePlaybook(lab, 'reboot', steps('reboot', 30)), '-l', 'rhel9'])
    await untilEvent(process, rhel, 'change-started', 'slow')
    await rhel.reboot()
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(run.host('rhel9')).toMatchObject({ outcome: 'failed', changes: 1, error: { code: 'apply-incomplete' } })
    expect(run.host('rhel9').error?.message).toMatch(
      /^The host was rebooted in the middle.* finds 1 of its 3 changes made/,
    )
    expect(await rhel.must('cat /etc/reboot-before; ls -A /run/drover 2>/dev/null || :')).toBe('whole')
    expect(await exists(rhel, '/etc/reboot-after')).toBe(false)
  })
})

describe('ended on the host, with all that it started', () => {
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
  const sleeping = (host: LabHost, seconds: number): Promise<string> =>
    host.must(`pgrep -fxc "(/usr/bin/)?sleep ${seconds}" || :`)
  const endless = (name: string, seconds: number, more: object = {}): object[] => [
    file('before', `/etc/${name}`, 'whole\n'),
    {
      name: 'endless',
      task: 'command',
      with: { argv: ['sh', '-c', stubborn(seconds)], creates: `/run/${name}` },
      ...more,
    },
  ]

  test('by a second Ctrl-C: none is left but who has left the unit, and that one is named', async () => {
    const process = startDrover(lab, ['run', writePlaybook(lab, 'twice', endless('twice', 301))])
    await each(async (host) => void (await untilEvent(process, host, 'change-started', 'endless')))
    await until('the children', 10_000, async () => ((await sleeping(rhel, 301)) === '5' ? true : undefined))
    await process.interrupt('interrupted:')
    await process.interrupt('interrupted again:')
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(130)
    await each(async (host) => {
      const { outcome, changes, error } = run.host(host.name)
      expect([outcome, changes, error?.code]).toEqual(['cancelled', 1, 'cancelled'])
      expect(error?.message).toMatch(/the apply was cut during 'run sh -c/)
      expect(error?.detail).toMatch(
        /about to wait\n(.*\n)*What goes on there by itself:\n(.*\n)*process \d+: \S*sleep 301/,
      )
      expect(await sleeping(host, 301)).toBe('1')
      await host.must('systemctl stop left.scope')
      expect(await property(host, unit, 'ActiveState')).toBe('inactive')
      expect(await left(host)).toBe('')
    })
  })

  test.each<[string, string[], object]>([
    ['--timeout', ['--timeout', '2s'], {}],
    ['timeout: of the step', ['--timeout', '10m'], { timeout: '2s' }],
  ])('by %s, which the host itself keeps to', async (_, options, more) => {
    const process = startDrover(lab, ['run', writePlaybook(lab, 'late', endless('late', 302, more)), ...options])
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(async (host) => {
      const { outcome, error } = run.host(host.name)
      expect([outcome, error?.code, error?.step]).toEqual(['failed', 'step-timeout', 'endless'])
      expect(error?.message).toMatch(/^The step 'endless' did not end within 2 s and was cut during 'run sh -c/)
      expect(error?.detail).toMatch(/about to wait\n(.*\n)*process \d+: \S*sleep 302/)
      expect(await sleeping(host, 302)).toBe('1')
      await host.must('systemctl stop left.scope')
      expect(await left(host)).toBe('')
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
    await host.must('rm -f /run/installing /run/installed')
    await host.put('/usr/local/sbin/apt-get', apt, '0755')
    await host.put('/usr/local/sbin/dpkg-query', query, '0755')
  }
  const steps = [
    { name: 'package', task: 'package-present', with: { names: ['slow-package'] } },
    file('after', '/etc/package-after', 'whole\n'),
  ]
  const once = ['started package', 'done package']

  test('a cut connection is no matter', async () => {
    await each((host) => slowManager(host, 4))
    const process = startDrover(lab, ['run', writePlaybook(lab, 'package-cut', steps)])
    await each(async (host) => {
      await untilEvent(process, host, 'change-started', 'package')
      await cut(host)
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => expect(progressOf(run, host.name)).toEqual([...once, 'started after', 'done after']))
  })

  test('a second Ctrl-C and a limit wait for the package manager, and let nothing begin after it', async () => {
    const playbook = writePlaybook(lab, 'package-cancel', [{ ...steps[0], timeout: '2s' }, steps[1] as object])
    await each((host) => slowManager(host, 14))
    await each(async (host) => void (await host.must('rm -f /etc/package-after')))
    const process = startDrover(lab, ['run', playbook])
    await each(async (host) => void (await untilEvent(process, host, 'change-started', 'package')))
    await process.interrupt('interrupted:')
    await process.interrupt('interrupted again:')
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(130)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ changes: 1 })
      expect(progressOf(run, host.name)).toEqual(once)
      expect(await host.must('ls /run/installed; ls /run/installing /etc/package-after 2>/dev/null || :')).toBe(
        '/run/installed',
      )
      expect(await left(host)).toBe('')
      await host.must('rm -f /usr/local/sbin/apt-get /usr/local/sbin/dpkg-query')
    })
  })
})

describe('output without an end', () => {
  const loud = (name: string, script: string, more: object = {}): object => ({
    name,
    task: 'command',
    with: { argv: ['sh', '-c', script], creates: `/run/${name}`, ...more },
  })

  test('300 MB: the first and the last of it are kept, the command and /run do not mind', async () => {
    const script = 'echo first; head -c 300000000 /dev/zero | tr "\\0" "x" | fold -w 100; echo; echo last; exit 7'
    const run = await drover(lab, ['run', writePlaybook(lab, 'loud', [loud('loud', script)])])
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(async (host) => {
      const { error } = run.host(host.name)
      expect(error).toMatchObject({ code: 'change-failed', message: expect.stringContaining('(exit code 7)') })
      expect(error?.detail).toMatch(/xxx\nlast$/)
      expect(await left(host)).toBe('')
    })
  })

  test('for ever, under a limit; and a daemon that keeps the output open does not hold up the rest', async () => {
    const run = await drover(lab, [
      'run',
      writePlaybook(lab, 'yes', [
        loud('daemon', 'echo ready; : >/run/daemon; setsid sh -c "while sleep 1; do echo still here; done" &'),
        loud('yes', 'yes', { timeout_s: 3 }),
      ]),
    ])
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ changes: 1, error: { code: 'change-failed', step: 'yes' } })
      expect(await left(host)).toBe('')
    })
  })
})

describe('where systemd does not start it', () => {
  const broken = '#!/bin/sh\necho "Failed to connect to bus: Connection timed out" >&2; exit 1\n'

  test('a process group does, survives a cut as well, and that is said', async () => {
    await each(async (host) => void (await host.put('/usr/local/sbin/systemd-run', broken, '0755')))
    const process = startDrover(lab, ['run', writePlaybook(lab, 'group', steps('group', 4))])
    await each(async (host) => {
      await untilEvent(process, host, 'change-started', 'slow')
      await cut(host)
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 3 })
      expect(progressOf(run, host.name)).toEqual(whole)
      expect(await left(host)).toBe('')
    })
    expect(run.report?.notices.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'the changes ran in a process group and not under systemd, since systemd would not: Failed to connect to bus: Connection timed out',
      ]),
    )
  })

  test('a host that was not booted with systemd is changed by one, too', async () => {
    await rhel.must(
      '/usr/bin/systemd-run --quiet --collect --unit=bare unshare -m sh -c "mount -t tmpfs none /run/systemd && exec /usr/sbin/sshd -D -e -p 2222 -o PidFile=none"',
    )
    await knowPort(lab, rhel, 2222)
    await until('the sshd without systemd', 15_000, async () =>
      (await sshAnswers(rhel.address, 2222)) ? true : undefined,
    )
    const inventory = hostsFile(lab, 'bare', { bare: { address: rhel.address, port: 2222, user: 'root' } })
    const run = await drover(lab, ['run', writePlaybook(lab, 'bare', steps('bare', 1))], { inventory })
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(progressOf(run, 'bare')).toEqual(whole)
    expect(run.report?.notices.map(({ message }) => message)).toContain(
      'the changes ran in a process group and not under systemd, since the host was not booted with systemd',
    )
    expect(await left(rhel)).toBe('')
    await rhel.must('systemctl stop bare.service')
  })

  test('and is one at a time, ended by Ctrl-C and by its limit', async () => {
    const endless = {
      name: 'endless',
      task: 'command',
      with: {
        argv: ['sh', '-c', '(trap "" TERM; setsid sleep 303) & (setsid sleep 303 &); sleep 303'],
        creates: '/run/endless',
      },
    }
    const playbook = writePlaybook(lab, 'group-endless', [endless])
    const process = startDrover(lab, ['run', playbook])
    await each(async (host) => void (await untilEvent(process, host, 'change-started', 'endless')))
    const second = await drover(lab, ['run', playbook])
    await each(async (host) =>
      expect(second.host(host.name)).toMatchObject({
        outcome: 'blocked',
        error: { code: 'locked', message: expect.stringMatching(/drover run .* s more at the most/) },
      }),
    )
    await process.interrupt('interrupted:')
    await process.interrupt('interrupted again:')
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(130)
    const late = await drover(lab, ['run', playbook, '--timeout', '1'])
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } })
      expect(late.host(host.name)).toMatchObject({ outcome: 'failed', error: { code: 'step-timeout' } })
      expect(await host.must('pgrep -fxc "sleep 303" || :')).toBe('0')
      expect(await left(host)).toBe('')
      await host.must('rm -f /usr/local/sbin/systemd-run')
    })
  })
})
