import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { changesOf, type DroverEnd, drover, execsOf, statusOf } from '../support/drover.ts'
import { addMachine, DAEMON_STATE, DROP_IN, exists, mainPid, states, TARGET, unwire } from '../support/units.ts'

/** Story: workers that died are brought back without anything else being started, restarted or rebuilt (domain.md 5.3, 11.8). */

const short = ['-e', 'stable_s=1', '-e', 'within_s=20']
const dead = { target: 'active', worker: 'inactive', agent: 'active' }
const stuck = { target: 'inactive', worker: 'inactive', agent: 'active' }
const up = { target: 'active', worker: 'active', agent: 'active' }
const kube2 = 'systemd-nspawn@kube2.service'
const mine = 'systemd-nspawn@mine.service'

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost

beforeAll(async () => {
  lab = await openLab('remediate', { yes: true })
  ;[rhel, ubuntu] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'real' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'old', worker: 'real' }),
  ])
  // As after a boot of a wired host.
  await each(async (host) => void (await host.must('systemctl start machines.target')))
  // The other side: enabled on one host, there but not enabled on the other.
  await Promise.all([addMachine(rhel, 'kube2', { enabled: true }), addMachine(ubuntu, 'kube2', { enabled: false })])
})

afterAll(() => lab?.close())

/** Systemd 252 and 257, each with a real nspawn machine. */
const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all([rhel, ubuntu].map((host) => check(host)))
}
const both = ['-l', 'rhel9,ubuntu24']

const rootfs = (host: LabHost): Promise<string> =>
  host.must('cd /var/lib/machines && stat -c "%n %i %d" kube1 kube1/usr kube1/etc/machine-id kube2')

const machineState = (host: LabHost): Promise<string> => host.must('machinectl show -p State --value kube1')

const stopAll = (host: LabHost): Promise<string> =>
  host.must('systemctl stop machines.target "systemd-nspawn@*.service"; systemctl is-active --quiet "$1"', [AGENT_UNIT])

const expectBlocked = (run: DroverEnd, name: string, code: string): void => {
  expect(run.code, run.stdout + run.stderr).toBe(2)
  expect(run.host(name)).toMatchObject({ outcome: 'blocked', changes: 0, error: { code } })
  expect(execsOf(run, name)).toEqual(['inspect'])
}

describe('11.8 target active, worker dead', () => {
  test('a restart of the agent does not help; remediate starts the one worker, and nothing is rebuilt or restarted', async () => {
    const before = await Promise.all([rhel, ubuntu].map(rootfs))
    await each(async (host) => {
      await host.killWorker()
      await host.must('systemctl restart "$1"', [AGENT_UNIT])
      expect(await states(host), host.name).toEqual(dead)
      expect(await statusOf(lab, host.name)).toMatchObject({ verdict: 'stuck', fix: 'remediate' })
    })
    const agents = await Promise.all([rhel, ubuntu].map((host) => mainPid(host, AGENT_UNIT)))
    const run = await drover(lab, ['run', 'remediate', ...both, ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(changesOf(run.host(host.name))).toEqual([
        `systemctl start ${WORKER_UNIT}`,
        `wait until ${WORKER_UNIT} is active for 1 s`,
        'wait until machine kube1 is running',
        `create directory ${DROP_IN.slice(0, DROP_IN.lastIndexOf('/'))} (0755 root:root)`,
        `write ${DROP_IN} (0644 root:root, 29 bytes)`,
        'systemctl daemon-reload',
      ])
      expect(execsOf(run, host.name)).toEqual(['inspect', 'apply', 'verify'])
      expect(await states(host), host.name).toEqual(up)
      expect(await machineState(host), host.name).toBe('running')
      expect((await host.unit(kube2)).ActiveState, host.name).toBe('inactive')
    })
    expect(await Promise.all([rhel, ubuntu].map(rootfs))).toEqual(before)
    expect(await Promise.all([rhel, ubuntu].map((host) => mainPid(host, AGENT_UNIT)))).toEqual(agents)
    // Wiring for the next boot has a consequence, and remediate says so where there is one.
    const foretold = (name: string): string[] =>
      run.host(name).findings.flatMap(({ check, message }) => (check === 'others-start-at-boot' ? [message] : []))
    expect(foretold('rhel9')).toEqual([expect.stringContaining(kube2)])
    expect(foretold('ubuntu24')).toEqual([])
  })

  test('remediate again changes nothing, with one remote command', async () => {
    const run = await drover(lab, ['run', 'remediate', ...both, ...short])
    expect(run.code).toBe(0)
    await each(async (host) => {
      expect(run.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(run, host.name)).toEqual(['inspect'])
    })
  })

  test('the real machine that was brought back comes up by itself after a reboot, and the other side as it was foretold', async () => {
    await each((host) => host.reboot())
    await each(async (host) => {
      expect(await states(host), host.name).toEqual(up)
      await until(`kube1 on ${host.name}`, 20_000, async () =>
        (await machineState(host)) === 'running' ? true : undefined,
      )
      expect((await statusOf(lab, host.name)).verdict, host.name).toBe('healthy')
    })
    expect([(await rhel.unit(kube2)).ActiveState, (await ubuntu.unit(kube2)).ActiveState]).toEqual([
      'active',
      'inactive',
    ])
  })
})

describe('W2 what machines.target would start besides', () => {
  beforeAll(async () => {
    await addMachine(ubuntu, 'mine', { enabled: true })
    await each(async (host) => {
      await unwire(host)
      await stopAll(host)
      expect(await states(host)).toEqual(stuck)
    })
  })

  test('blocks machines-target as would-start-others, with nothing changed: the other side, and an operator’s own machine', async () => {
    const run = await drover(lab, ['run', 'machines-target', ...both, ...short])
    for (const [host, other] of [
      [rhel, kube2],
      [ubuntu, mine],
    ] as const) {
      expectBlocked(run, host.name, 'would-start-others')
      expect(run.host(host.name).error?.message).toContain(other)
      expect(await states(host)).toEqual(stuck)
      expect(await exists(host, DROP_IN)).toBe(false)
    }
  })

  test('W3 does not keep remediate from starting the one worker, and only that', async () => {
    const run = await drover(lab, ['run', 'remediate', ...both, ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => expect(await states(host), host.name).toEqual({ ...up, target: 'inactive' }))
    expect([(await rhel.unit(kube2)).ActiveState, (await ubuntu.unit(mine)).ActiveState]).toEqual([
      'inactive',
      'inactive',
    ])
    expect((await statusOf(lab, 'rhel9')).verdict).toBe('healthy')
  })

  test('starts along where --allow-start names it', async () => {
    await each(async (host) => void (await stopAll(host)))
    const run = await drover(lab, [
      'run',
      'machines-target',
      ...both,
      ...short,
      '--allow-start',
      'kube2',
      '--allow-start',
      mine,
    ])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      expect(changesOf(run.host(host.name))).toContain(`systemctl restart ${AGENT_UNIT}`)
      expect(await states(host), host.name).toEqual(up)
    })
    expect([(await rhel.unit(kube2)).ActiveState, (await ubuntu.unit(mine)).ActiveState]).toEqual(['active', 'active'])
  })
})

describe('what runs beside it', () => {
  test('W4 the restart of the agent that brings kube1 back leaves a kube2 that runs the very process it was', async () => {
    await stopAll(rhel)
    await rhel.must('systemctl start "$1"', [kube2])
    expect(await states(rhel)).toEqual(stuck)
    const [agent, other] = await Promise.all([AGENT_UNIT, kube2].map((unit) => mainPid(rhel, unit)))
    const run = await drover(lab, ['run', 'machines-target', '-l', 'rhel9', ...short, '--allow-start', 'kube2'])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    // Before the restart the counter of starts may have to be reset: the story restarts the agent often.
    expect(changesOf(run.host('rhel9')).slice(-5)).toEqual([
      `systemctl restart ${AGENT_UNIT}`,
      `wait until ${AGENT_UNIT} is active for 1 s`,
      `wait until ${WORKER_UNIT} is active for 1 s`,
      'wait until machine kube1 is running',
      `wait until ${kube2} is seen to be untouched`,
    ])
    expect(await states(rhel)).toEqual(up)
    expect(await machineState(rhel)).toBe('running')
    expect(await mainPid(rhel, kube2)).toBe(other)
    expect(await mainPid(rhel, AGENT_UNIT)).not.toBe(agent)
  })
})

describe('with the durations that remediate has by itself', () => {
  test('a dead worker is up for 15 s before it is called so, and the screen says what is waited for', async () => {
    await each((host) => host.killWorker())
    const run = await drover(lab, ['run', 'remediate', ...both])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    await each(async (host) => {
      const waits = `wait until ${WORKER_UNIT} is active for 15 s`
      expect(run.host(host.name).outcome).toBe('changed')
      expect(changesOf(run.host(host.name))).toEqual([
        `systemctl start ${WORKER_UNIT}`,
        waits,
        'wait until machine kube1 is running',
      ])
      expect(run.stdout).toContain(`waiting: [${host.name}] worker of the active side: ${waits} (at most 2 min 15 s)`)
      expect(run.host(host.name).ms, host.name).toBeGreaterThan(15_000)
      expect(await states(host), host.name).toEqual(up)
    })
  })
})

describe('what drover does not decide', () => {
  test('a masked target: blocked target-masked by both playbooks, nothing changed and nothing unmasked', async () => {
    await each(async (host) => {
      await unwire(host)
      await stopAll(host)
    })
    await Promise.all([
      rhel.must('systemctl mask --quiet machines.target'),
      ubuntu.must('systemctl mask --quiet --runtime machines.target'),
    ])
    for (const playbook of ['remediate', 'machines-target']) {
      const run = await drover(lab, ['run', playbook, ...both, ...short])
      await each(async (host) => {
        expectBlocked(run, host.name, 'target-masked')
        expect(run.host(host.name).error?.remedy).toContain('systemctl unmask machines.target')
        expect(await states(host), host.name).toEqual(stuck)
        expect(await exists(host, DROP_IN)).toBe(false)
      })
    }
    expect([(await rhel.unit(TARGET)).UnitFileState, (await ubuntu.unit(TARGET)).UnitFileState]).toEqual([
      'masked',
      'masked-runtime',
    ])
    expect((await statusOf(lab, 'rhel9')).verdict).toBe('target-masked')
    await each(
      async (host) =>
        void (await host.must(
          'systemctl unmask --quiet machines.target; systemctl unmask --quiet --runtime machines.target',
        )),
    )
  })

  test.each([
    ['missing', 'rm "$1"', 'is missing'],
    ['other than its checksum says', 'sed -i s/kube1/kube2/ "$1"', 'does not match its checksum'],
    ['garbage', 'echo garbage >"$1"; sha256sum <"$1" | cut -d" " -f1 >"$1.sha256"', 'is not JSON'],
  ])('daemon-state.json is %s: blocked state-unreadable, no side is guessed', async (_what, damage, words) => {
    const backup = '/root/state'
    await each(
      async (host) =>
        void (await host.must(`mkdir -p ${backup}; cp -a "$1" "$1.sha256" ${backup}; ${damage}`, [DAEMON_STATE])),
    )
    try {
      for (const playbook of ['remediate', 'machines-target']) {
        const run = await drover(lab, ['run', playbook, ...both, ...short])
        await each(async (host) => {
          expectBlocked(run, host.name, 'state-unreadable')
          expect(run.host(host.name).error?.message).toContain(words)
          expect(run.host(host.name).error?.message).toContain('Running now: none')
          expect(await states(host), host.name).toEqual(stuck)
        })
      }
      expect((await statusOf(lab, 'rhel9')).verdict).toBe('state-unreadable')
    } finally {
      await each(async (host) => void (await host.must(`cp -a ${backup}/* "$(dirname "$1")"`, [DAEMON_STATE])))
    }
  })

  test('no agent: blocked agent-missing', async () => {
    await ubuntu.must('systemctl disable --quiet --now "$1"; rm -f "/etc/systemd/system/$1"; systemctl daemon-reload', [
      AGENT_UNIT,
    ])
    for (const playbook of ['remediate', 'machines-target']) {
      const run = await drover(lab, ['run', playbook, '-l', 'ubuntu24', ...short])
      expectBlocked(run, 'ubuntu24', 'agent-missing')
    }
    expect((await statusOf(lab, 'ubuntu24')).verdict).toBe('no-agent')
    expect((await ubuntu.unit(WORKER_UNIT)).ActiveState).toBe('inactive')
  })
})
