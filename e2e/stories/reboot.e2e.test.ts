import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { sshAnswers, until } from '../lab/wait.ts'
import { changesOf, drover, execsOf, statusOf } from '../support/drover.ts'
import { DROP_IN, mainPid, property, states, TARGET, unwire, workerStarts } from '../support/units.ts'

/** Story: the stuck node of PR #437 from its first reboot to a worker that starts with every boot (domain.md 11.1 to 11.7). */

const short = ['-e', 'stable_s=1', '-e', 'within_s=8']
const golden = readFileSync(new URL('../../test/golden/50-drover-machines-target.conf', import.meta.url), 'utf8')
const up = { target: 'active', worker: 'active', agent: 'active' }
const stuck = { target: 'inactive', worker: 'inactive', agent: 'active' }

let lab: Lab
let hosts: LabHost[]

beforeAll(async () => {
  lab = await openLab('reboot', { yes: true })
  hosts = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'old', worker: 'sleep' }),
  ])
})

afterAll(() => lab?.close())

/** On both hosts at once: systemd 252 and 257. */
const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all(hosts.map((host) => check(host)))
}

const reboot = (): Promise<void> => each((host) => host.reboot())

describe('the stuck node', () => {
  test('11.1 old unit, target disabled, worker enabled, reboot: the worker never starts, the agent is active, status says stuck', async () => {
    await each((host) => host.stick())
    await each(async (host) => {
      expect(await property(host, WORKER_UNIT, 'ExecMainStartTimestampMonotonic'), host.name).toBe('0')
      expect(await statusOf(lab, host.name), host.name).toMatchObject({ verdict: 'stuck', fix: 'remediate' })
      expect(await states(host), host.name).toEqual(stuck)
    })
    expect((await drover(lab, ['status', '--exit-code'])).code).toBe(2)
  })

  test('11.5 the dependency written by hand and a daemon-reload start nothing', async () => {
    await each(async (host) => {
      await host.put(DROP_IN, golden)
      await host.must('systemctl daemon-reload')
      expect((await property(host, AGENT_UNIT, 'Wants')).split(' '), host.name).toContain(TARGET)
      expect(await states(host), host.name).toEqual(stuck)
      expect((await statusOf(lab, host.name)).verdict, host.name).toBe('stuck')
      await unwire(host)
    })
  })

  test('11.5 machines-target writes the drop-in, reloads and restarts the agent, and with it target and worker start', async () => {
    const before = await Promise.all(hosts.map((host) => mainPid(host, AGENT_UNIT)))
    const run = await drover(lab, ['run', 'machines-target', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name).outcome).toBe('changed')
      expect(changesOf(run.host(host.name))).toEqual([
        // The directory stayed from the attempt by hand.
        `write ${DROP_IN} (0644 root:root, ${golden.length} bytes)`,
        'systemctl daemon-reload',
        `systemctl restart ${AGENT_UNIT}`,
        `wait until ${AGENT_UNIT} is active for 1 s`,
        `wait until ${WORKER_UNIT} is active for 1 s`,
      ])
      expect(execsOf(run, host.name)).toEqual(['inspect', 'apply', 'verify'])
      expect(await host.must('cat "$1"; stat -c "%a %U:%G" "$1"', [DROP_IN])).toBe(`${golden}644 root:root`)
      expect(await states(host), host.name).toEqual(up)
      expect(before).not.toContain(await mainPid(host, AGENT_UNIT))
      expect((await statusOf(lab, host.name)).verdict).toBe('healthy')
    })
  })

  test('machines-target again changes nothing, with one remote command per host', async () => {
    const logins = (host: LabHost): Promise<string> =>
      host.must('journalctl -q -o cat -t sshd -t sshd-session | grep -c "Accepted publickey"')
    const before = await Promise.all(hosts.map(logins))
    const run = await drover(lab, ['run', 'machines-target', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(run.stdout).toMatch(/rhel9\s+: ok=1\s+changed=0\s+unreachable=0\s+failed=0/)
    for (const [index, host] of hosts.entries()) {
      expect(run.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(run, host.name)).toEqual(['inspect'])
      expect(Number(await logins(host)) - Number(before[index])).toBe(1)
    }
  })

  test('11.2 wired, reboot: target, worker and agent are active, the agent did not wait, and its rewritten unit undid nothing', async () => {
    await each(async (host) => {
      await workerStarts(host, 'ExecStartPre=/bin/sleep 4')
      // What the agent finds is not what it writes, so it writes.
      await host.must('echo "# touched" >>"/etc/systemd/system/$1"; systemctl daemon-reload', [AGENT_UNIT])
    })
    await reboot()
    await each(async (host) => {
      await until(`the worker of ${host.name}`, 15_000, async () =>
        (await states(host)).worker === 'active' ? true : undefined,
      )
      expect(await states(host), host.name).toEqual(up)
      const [agent, worker] = await Promise.all(
        [AGENT_UNIT, WORKER_UNIT].map((unit) => property(host, unit, 'ActiveEnterTimestampMonotonic')),
      )
      expect(Number(worker) - Number(agent), host.name).toBeGreaterThan(2_000_000)
      expect(await host.must('journalctl -q -o cat -u "$1" -n 5', [AGENT_UNIT])).toContain('rewrote its unit')
      expect(await host.must('cat "/etc/systemd/system/$1"', [AGENT_UNIT])).not.toContain(TARGET)
      expect((await property(host, AGENT_UNIT, 'Wants')).split(' ')).toContain(TARGET)
      expect((await statusOf(lab, host.name)).verdict).toBe('healthy')
      await workerStarts(host, '')
    })
    const run = await drover(lab, ['run', 'machines-target', ...short])
    expect(run.report?.totals.unchanged).toBe(hosts.length)
  })

  test('W1 wiring a host whose worker runs restarts nothing: agent and worker keep their processes', async () => {
    await each(async (host) => void (await unwire(host)))
    const pids = (): Promise<string[][]> =>
      Promise.all(hosts.map((host) => Promise.all([AGENT_UNIT, WORKER_UNIT].map((unit) => mainPid(host, unit)))))
    const before = await pids()
    expect((await statusOf(lab, 'rhel9')).verdict).toBe('not-wired')
    const run = await drover(lab, ['run', 'machines-target', ...short])
    for (const host of hosts)
      expect(changesOf(run.host(host.name))).toEqual([
        `write ${DROP_IN} (0644 root:root, ${golden.length} bytes)`,
        'systemctl daemon-reload',
      ])
    expect(await pids()).toEqual(before)
  })

  test('11.6 stopping and starting the agent leaves the worker alone', async () => {
    await each(async (host) => {
      const before = await mainPid(host, WORKER_UNIT)
      await host.must('systemctl stop "$1"', [AGENT_UNIT])
      expect(await states(host), host.name).toEqual({ ...up, agent: 'inactive' })
      await host.must('systemctl start "$1"', [AGENT_UNIT])
      expect(await mainPid(host, WORKER_UNIT), host.name).toBe(before)
    })
  })

  test('11.4 a worker disabled and stopped stays stopped: after a reboot, an agent restart, remediate and machines-target', async () => {
    const stopped = { ...up, worker: 'inactive' }
    await each(async (host) => void (await host.must('systemctl disable --quiet --now "$1"', [WORKER_UNIT])))
    await reboot()
    await each(async (host) => {
      expect(await states(host), host.name).toEqual(stopped)
      await host.must('systemctl restart "$1"', [AGENT_UNIT])
      expect(await states(host), host.name).toEqual(stopped)
    })
    for (const playbook of ['remediate', 'machines-target']) {
      const run = await drover(lab, ['run', playbook, ...short])
      expect(run.code, run.stdout + run.stderr).toBe(0)
      await each(async (host) => {
        expect(run.host(host.name), `${playbook} on ${host.name}`).toMatchObject({ outcome: 'unchanged', changes: 0 })
        expect(await states(host), host.name).toEqual(stopped)
      })
      if (playbook === 'remediate')
        expect(run.host('rhel9').findings).toContainEqual(
          expect.objectContaining({ check: 'worker-stopped', severity: 'ok' }),
        )
    }
    expect((await statusOf(lab, 'rhel9')).verdict).toBe('worker-stopped')
    await each(async (host) => void (await host.must('systemctl enable --quiet --now "$1"', [WORKER_UNIT])))
  })
})

describe('11.7 a worker that cannot start', () => {
  const fails = 'Type=exec\nExecStartPre=/bin/sh -c "echo the image of kube1 is broken >&2; exit 3"'
  const hangs = 'Type=notify\nExecStartPre=/bin/sh -c "echo kube1 says nothing more >&2"\nTimeoutStartSec=4'

  test('does not hold up the agent at boot: neither one that fails nor one that hangs', async () => {
    const [rhel, ubuntu] = hosts as [LabHost, LabHost]
    await Promise.all([workerStarts(rhel, fails), workerStarts(ubuntu, hangs.replace('=4', '=90'))])
    // Not waited for with the lab's own words: to systemd a host whose worker is being started has not finished booting.
    await each(async (host) => {
      const before = await host.pid1Start()
      await host.sh('systemctl reboot').catch(() => undefined)
      await until(`the agent of ${host.name} after a reboot`, 40_000, async () =>
        (await host.pid1Start()) !== before &&
        (await states(host)).agent === 'active' &&
        (await sshAnswers(host.address))
          ? true
          : undefined,
      )
    })
    expect([await states(rhel), await states(ubuntu)]).toEqual([
      { ...up, worker: expect.stringMatching(/^(activating|failed)$/) },
      // The target comes up after its workers, so it waits with the hanging one.
      { target: 'inactive', worker: 'activating', agent: 'active' },
    ])
    expect((await statusOf(lab, 'ubuntu24')).verdict).toBe('worker-starting')
    expect((await statusOf(lab, 'rhel9')).verdict).toBe('stuck')
  })

  test('is not helped by a restart of the agent while it is still starting, so machines-target plans none', async () => {
    const run = await drover(lab, ['run', 'machines-target', ...short, '--check'])
    for (const host of hosts) expect(changesOf(run.host(host.name)), host.name).toEqual([])
  })

  test('ends remediate as failed worker-down, with the last journal lines of the worker', async () => {
    const [rhel, ubuntu] = hosts as [LabHost, LabHost]
    await workerStarts(ubuntu, hangs)
    await ubuntu.must('systemctl stop "$1"', [WORKER_UNIT])
    const run = await drover(lab, ['run', 'remediate', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(2)
    for (const [host, words] of [
      [rhel, 'the image of kube1 is broken'],
      [ubuntu, 'kube1 says nothing more'],
    ] as const) {
      const { outcome, error } = run.host(host.name)
      expect(outcome).toBe('failed')
      expect(error, host.name).toMatchObject({ code: 'worker-down', step: 'worker of the active side' })
      expect(error?.detail, host.name).toContain(words)
      expect(run.stdout).toContain(words)
      expect((await states(host)).agent).toBe('active')
    }
  })

  test('ends machines-target as failed worker-down with the wiring kept and the agent up', async () => {
    const [rhel] = hosts as [LabHost, LabHost]
    await unwire(rhel)
    await rhel.must('systemctl stop "$1" machines.target', [WORKER_UNIT])
    const run = await drover(lab, ['run', 'machines-target', '-l', 'rhel9', '-e', 'stable_s=1', '-e', 'within_s=3'])
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(run.host('rhel9').error).toMatchObject({ code: 'worker-down' })
    expect(run.host('rhel9').error?.detail).toContain('the image of kube1 is broken')
    expect(await rhel.must('cat "$1"', [DROP_IN])).toBe(golden.trimEnd())
    expect(await states(rhel)).toMatchObject({ target: 'active', agent: 'active' })
  })
})
