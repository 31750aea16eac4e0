import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { left, progressOf, threeSteps, untilReconnected, untilStarted, whole } from '../support/apply.ts'
import { changesOf, drover, execsOf, startDrover } from '../support/drover.ts'
import { file, letThrough, writePlaybook } from '../support/playbook.ts'
import { exists } from '../support/units.ts'
import { cut, hostsOver, loseIts, mend, quickKeepalive } from '../support/wire.ts'

/** Story: an apply survives the wire. Whatever becomes of the connection, it is done once, whole, and told of once. */

let lab: Lab
/** systemd 252 and 257, each by either transport: every run here is a row of all four. */
let [rhel, rhelToo, trixie, trixieToo]: LabHost[] = []
let hosts: LabHost[]
let inventory: string

beforeAll(async () => {
  lab = await openLab('transport-apply', { yes: true })
  hosts = await Promise.all([
    lab.boot({ name: 'rhel-ssh2', image: 'rhel9-like' }),
    lab.boot({ name: 'rhel-openssh', image: 'rhel9-like' }),
    lab.boot({ name: 'trixie-ssh2', image: 'ubuntu-like' }),
    lab.boot({ name: 'trixie-openssh', image: 'ubuntu-like' }),
  ])
  ;[rhel, rhelToo, trixie, trixieToo] = hosts
  inventory = hostsOver(
    lab,
    'all',
    hosts.map((host) => [host, host.name.endsWith('openssh') ? 'openssh' : 'ssh2']),
  )
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>, some = hosts): Promise<void> => {
  await Promise.all(some.map((host) => check(host)))
}

const start = (name: string, steps: readonly object[], ...more: string[]) =>
  startDrover(lab, ['run', writePlaybook(lab, name, steps), ...more], { inventory })

const untilThere = (host: LabHost, path: string): Promise<unknown> =>
  until(`${path} on ${host.name}`, 60_000, async () => ((await exists(host, path)) ? true : undefined))

/** Programs of this name, ahead of the host's own. */
const shim = (host: LabHost, name: string, script: string): Promise<void> =>
  host.put(`/usr/local/sbin/${name}`, `#!/bin/sh\n${script}\n`, '0755')
const unshim = (host: LabHost, ...names: string[]): Promise<string> =>
  host.must('cd /usr/local/sbin && rm -f "$@"', names)

describe('the connection', () => {
  test('is cut three times in an apply with megabytes to send: all is made, once, and told of once and in order', async () => {
    // Together more than a channel takes at once, so that most of what a reconnect sends again is never read. What lies
    // there already spares the journal a diff of it.
    const large = ['one', 'two', 'three', 'four'].map((name) =>
      file(name, `/etc/cut-${name}`, `${'x'.repeat(99)}\n`.repeat(9_000)),
    )
    await each(async (host) => {
      await host.must('for name in one two three four; do head -c 100000 /dev/zero >"/etc/cut-$name"; done')
    })
    const process = start('cut', [...threeSteps('cut'), ...large])
    await each(async (host) => {
      await untilStarted(process, host, 'slow')
      for (let count = 1; count <= 3; count += 1) {
        await cut(host)
        await untilReconnected(process, host, count)
      }
      await letThrough(host, 'cut')
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 7, error: null })
      const progress = progressOf(run, host.name)
      expect([progress.slice(0, whole.length), progress.length]).toEqual([whole, 14])
      expect(execsOf(run, host.name)).toEqual(['inspect', 'apply', 'apply', 'apply', 'apply', 'verify'])
      expect(
        await host.must('cat /etc/cut-before /etc/cut-after; cat /etc/cut-one /etc/cut-four | wc -c; [ -e /run/cut ]'),
      ).toBe('whole\nwhole\n1800000')
      expect(await left(host)).toBe('')
    })
  })

  test('is half open, by packets that are lost both ways or by an sshd that stands still: keepalive notices, and the rest is followed', async () => {
    const deaf = [rhel, trixieToo] as LabHost[]
    const still = [rhelToo, trixie] as LabHost[]
    const process = start('half', threeSteps('half'), '-F', quickKeepalive(lab))
    await Promise.all([
      each(async (host) => {
        await untilStarted(process, host, 'slow')
        await loseIts(host)
        await untilReconnected(process, host)
        await letThrough(host, 'half')
      }, deaf),
      each(async (host) => {
        await untilStarted(process, host, 'slow')
        await cut(host, 'STOP')
        await untilReconnected(process, host)
        await letThrough(host, 'half')
      }, still),
    ])
    const run = await process.ended
    await Promise.all([
      each(async (host) => void (await mend(host)), deaf),
      each(async (host) => void (await cut(host)), still),
    ])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 3, error: null })
      expect(progressOf(run, host.name)).toEqual(whole)
      expect(execsOf(run, host.name)).toEqual(['inspect', 'apply', 'apply', 'verify'])
      expect(await left(host)).toBe('')
    })
  })

  test('is cut while systemd is being asked to start it: two execs are at it, and it is started once', async () => {
    await each((host) =>
      shim(
        host,
        'systemd-run',
        'echo started >>/run/starts; until [ -e /run/launch.go ]; do sleep 0.1; done; exec /usr/bin/systemd-run "$@"',
      ),
    )
    const argv = ['sh', '-c', 'echo once >>/run/launch']
    const process = start('launch', [{ name: 'slow', task: 'command', with: { argv, creates: '/run/launch' } }])
    await each(async (host) => {
      await untilThere(host, '/run/starts')
      await cut(host)
      await untilReconnected(process, host)
      await letThrough(host, 'launch')
    })
    const run = await process.ended
    await each(async (host) => void (await unshim(host, 'systemd-run')))
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'changed', changes: 1, error: null })
      expect(progressOf(run, host.name)).toEqual(['started slow', 'done slow'])
      expect(await host.must('cat /run/launch /run/starts')).toBe('once\nstarted')
      expect(await left(host)).toBe('')
    })
  })

  test('is cut in a look, which is made again; and what a look leaves running holds nobody up', async () => {
    // It keeps the output of what started it open for longer than the story lasts.
    const unless = [
      'sh',
      '-c',
      ': >/run/looking; until [ -e /run/look.go ]; do sleep 0.1; done; sleep 600 & [ -e /run/look ]',
    ]
    const process = start('look', [{ name: 'probe', task: 'command', with: { argv: ['touch', '/run/look'], unless } }])
    await each(async (host) => {
      await untilThere(host, '/run/looking')
      await cut(host)
      await untilReconnected(process, host)
      await letThrough(host, 'look')
    })
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(execsOf(run, host.name)).toEqual(['inspect', 'inspect', 'apply', 'verify'])
      await host.must('pkill -fx "sleep 600"')
    })
  })
})

describe('the host', () => {
  test('is rebooted in the middle: that is said, and what the host shows of the changes', async () => {
    const some = [rhel, trixieToo] as LabHost[]
    const process = start('boot', threeSteps('boot'), '-l', some.map(({ name }) => name).join(','))
    await each(async (host) => {
      await untilStarted(process, host, 'slow')
      await host.reboot()
    }, some)
    const run = await process.ended
    expect(run.code, run.stdout + run.stderr).toBe(2)
    await each(async (host) => {
      const { outcome, changes, error } = run.host(host.name)
      expect([outcome, changes, error?.code]).toEqual(['failed', 1, 'apply-incomplete'])
      expect(error?.message).toMatch(/^The host was rebooted in the middle.* finds 1 of its 3 changes made/)
      expect(await host.must('cat /etc/boot-before; ls -A /run/drover 2>/dev/null || :')).toBe('whole')
      expect(await exists(host, '/etc/boot-after')).toBe(false)
    }, some)
  })

  test('stands still between look and start until its time is over: it begins nothing', async () => {
    // What the unit reads of the time that has passed is an hour more than it was.
    const late = `read -r up idle </proc/uptime
echo "$((\${up%.*} + 3600)).00 $idle" >/run/uptime
mount --bind /run/uptime /proc/uptime
exec /usr/bin/systemd-run "$@"`
    await each((host) => shim(host, 'systemd-run', late))
    const run = await start('late', [file('late', '/etc/late', 'x\n')]).ended
    await each(async (host) => {
      await host.must('umount /proc/uptime')
      await unshim(host, 'systemd-run')
    })
    await each(async (host) => {
      const { outcome, changes, error } = run.host(host.name)
      expect([outcome, changes, error?.code], run.stdout + run.stderr).toEqual(['blocked', 0, 'drifted'])
      expect(error?.message).toMatch(/^The host came to begin 3\d\d\d s too late: .* Nothing was done\.$/)
      expect(await exists(host, '/etc/late')).toBe(false)
      expect(await left(host)).toBe('')
    })
  })

  test('fails a write: a reload is owed by what came to be under its name, and by nothing else', async () => {
    const unit = '/etc/systemd/system/owing.service'
    const before = [rhel, trixieToo] as LabHost[]
    const after = [rhelToo, trixie] as LabHost[]
    const failing = (pattern: string): string =>
      `for last; do :; done; case $last in ${pattern}) exit 1 ;; esac; exec /usr/bin/sync "$@"`
    await Promise.all([
      each((host) => shim(host, 'sync', failing('*/.drover.*')), before),
      each((host) => shim(host, 'sync', failing('/etc/systemd/system/')), after),
    ])
    const steps = [file('unit', unit, '[Service]\nExecStart=/bin/true\n')]
    const run = await start('owing', steps).ended
    await each(async (host) => {
      await unshim(host, 'sync')
      expect(run.host(host.name), run.stdout + run.stderr).toMatchObject({ error: { code: 'change-failed' } })
      expect(await host.must('find /etc/systemd -name ".drover*"')).toBe('')
      const owed = await host.must('ls /run/drover/owed 2>/dev/null || :')
      expect([await exists(host, unit), owed]).toEqual(after.includes(host) ? [true, 'daemon-reload'] : [false, ''])
    })
    const next = await start('owing', steps).ended
    expect(next.code, next.stdout + next.stderr).toBe(0)
    await each(async (host) => {
      expect(changesOf(next.host(host.name)).at(-1)).toBe('systemctl daemon-reload')
      expect(next.host(host.name).changes).toBe(after.includes(host) ? 1 : 2)
    })
  })

  test('cannot read a large file to its end: it is that one which is named, and the others are read', async () => {
    await each(async (host) => {
      await host.must('truncate -s 65M /etc/large /etc/stuck; echo x >/etc/small')
      // The time that each of them has is three seconds here; one is read at once, and one never.
      await shim(
        host,
        'timeout',
        '[ "$1:$2" != 25:sha256sum ] || { shift; set -- 3 "$@"; }; exec /usr/bin/timeout "$@"',
      )
      await shim(
        host,
        'sha256sum',
        `case "$*" in *stuck) exec sleep 60 ;; *large) exec printf '%064d *%s\\0' 0 /etc/large ;; esac; exec /usr/bin/sha256sum "$@"`,
      )
    })
    const steps = ['small', 'large', 'stuck'].map((name) => file(name, `/etc/${name}`, 'x\n'))
    const run = await drover(lab, ['run', writePlaybook(lab, 'digests', steps), '--check'], { inventory })
    await each(async (host) => {
      await unshim(host, 'timeout', 'sha256sum')
      const report = run.host(host.name)
      expect(report.error, run.stdout + run.stderr).toMatchObject({
        step: 'stuck',
        message: '/etc/stuck cannot be read: drover could not read it to its end',
      })
      expect(report.steps[0]).toMatchObject({ step: 'small', result: 'ok' })
      await host.must('rm /etc/large /etc/stuck')
    })
  })
})
