import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { changesOf, drover, execsOf, statusOf } from '../support/drover.ts'
import { DROP_IN, property, states, unwire } from '../support/units.ts'

/** Story: agents that cannot simply be restarted: behind a containerd that failed, and close to their start limit (domain.md 11.3, 3.7). */

const short = ['-e', 'stable_s=1', '-e', 'within_s=20']
const stuck = { target: 'inactive', worker: 'inactive', agent: 'active' }
const up = { target: 'active', worker: 'active', agent: 'active' }

let lab: Lab
let container: LabHost
let acl: LabHost

beforeAll(async () => {
  lab = await openLab('unstartable', { yes: true })
  ;[container, acl] = await Promise.all([
    lab.boot({ name: 'boxed', image: 'rhel9-like', agent: 'old', worker: 'sleep', variant: 'container' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
})

afterAll(() => lab?.close())

describe('11.3 the container variant', () => {
  test('is wired by the drop-in alone, and its own unit is left as it is', async () => {
    const text = await container.must('cat "/etc/systemd/system/$1"', [AGENT_UNIT])
    await container.must('systemctl stop machines.target "$1"', [WORKER_UNIT])
    const run = await drover(lab, ['run', 'machines-target', '-l', 'boxed', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(await states(container)).toEqual(up)
    expect(await container.must('cat "/etc/systemd/system/$1"', [AGENT_UNIT])).toBe(text)
  })

  test('with a containerd that fails, reboot: the agent is not started, target and worker are active', async () => {
    await container.must('mkdir -p /etc/drover-lab; : >/etc/drover-lab/containerd-fails')
    await container.reboot()
    expect(await states(container)).toEqual({ ...up, agent: 'inactive' })
    expect(await property(container, 'containerd.service', 'ActiveState')).toBe('failed')
    expect((await statusOf(lab, 'boxed')).verdict).toBe('containerd-failed')
  })

  test('W5 makes remediate name containerd as the cause and restart nothing', async () => {
    const before = await Promise.all(
      [WORKER_UNIT, AGENT_UNIT, 'containerd.service'].map((unit) => property(container, unit, 'InvocationID')),
    )
    const run = await drover(lab, ['run', 'remediate', '-l', 'boxed', ...short])
    expect(run.code).toBe(2)
    expect(run.host('boxed')).toMatchObject({ outcome: 'blocked', changes: 0, error: { code: 'dependency-failed' } })
    expect(execsOf(run, 'boxed')).toEqual(['inspect'])
    expect(run.host('boxed').error?.message).toContain('containerd.service')
    expect(
      await Promise.all(
        [WORKER_UNIT, AGENT_UNIT, 'containerd.service'].map((unit) => property(container, unit, 'InvocationID')),
      ),
    ).toEqual(before)
  })
})

describe('the start limit of the agent where reset-failed is denied (#385)', () => {
  const limit = { burst: 4, windowS: 12 }

  test('is waited for by the plan and never tripped by drover', async () => {
    await acl.must(
      'd="/etc/systemd/system/$1.d"; mkdir -p "$d"; printf "[Unit]\\nStartLimitBurst=%s\\nStartLimitIntervalSec=%s\\n" "$2" "$3" >"$d/90-story.conf"; systemctl daemon-reload',
      [AGENT_UNIT, String(limit.burst), String(limit.windowS)],
    )
    // Three starts; with the one that heals the limit would be reached, and by the next crash passed.
    await acl.must('for i in 1 2 3; do systemctl restart "$1" || exit; done; systemctl stop machines.target "$2"', [
      AGENT_UNIT,
      WORKER_UNIT,
    ])
    expect(await states(acl)).toEqual(stuck)
    const run = await drover(lab, ['run', 'machines-target', '-l', 'acl3', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(changesOf(run.host('acl3'))).toEqual([
      `wait until ${AGENT_UNIT} has room for a start`,
      `systemctl restart ${AGENT_UNIT}`,
      `wait until ${AGENT_UNIT} is active for 1 s`,
      `wait until ${WORKER_UNIT} is active for 1 s`,
    ])
    const waited = run.events.filter(({ type }) => type === 'change-done').map(({ at }) => Date.parse(at))
    const begun = run.events.filter(({ type }) => type === 'change-started').map(({ at }) => Date.parse(at))
    expect((waited[0] ?? 0) - (begun[0] ?? 0)).toBeGreaterThan(3000)
    expect(await states(acl)).toEqual(up)
    expect((await acl.unit(AGENT_UNIT)).Result).toBe('success')
    expect((await acl.sh('journalctl -q -u "$1" | grep -c "too quickly"', [AGENT_UNIT])).stdout.trim()).toBe('0')
  })

  test('is no reason to wait below systemd 254, where the reload of the drop-in clears the counter', async () => {
    await container.must('rm -f /etc/drover-lab/containerd-fails; systemctl start containerd "$1"', [AGENT_UNIT])
    await unwire(container)
    await container.must(
      'for i in 1 2 3 4; do systemctl restart "$1" || exit; done; systemctl stop machines.target "$2"',
      [AGENT_UNIT, WORKER_UNIT],
    )
    const run = await drover(lab, ['run', 'machines-target', '-l', 'boxed', ...short])
    expect(run.code, run.stdout + run.stderr).toBe(0)
    expect(changesOf(run.host('boxed'))).toEqual([
      `write ${DROP_IN} (0644 root:root, 29 bytes)`,
      'systemctl daemon-reload',
      `systemctl restart ${AGENT_UNIT}`,
      `wait until ${AGENT_UNIT} is active for 1 s`,
      `wait until ${WORKER_UNIT} is active for 1 s`,
    ])
    expect(await states(container)).toEqual(up)
  })
})

describe('a worker whose start hangs for ever', () => {
  test('is given up when the time the user allowed has passed, not when systemd would, with its last words', async () => {
    await container.must(
      `d="/etc/systemd/system/$1.d"; mkdir -p "$d"
       printf '[Service]\\nType=notify\\nTimeoutStartSec=infinity\\nExecStart=\\nExecStart=/bin/sh -c "echo still thinking; exec sleep infinity"\\n' >"$d/zz-hangs.conf"
       systemctl daemon-reload; systemctl stop "$1"`,
      [WORKER_UNIT],
    )
    const run = await drover(lab, ['run', 'remediate', '-l', 'boxed', '-e', 'stable_s=1', '-e', 'within_s=3'])
    expect(run.code, run.stdout + run.stderr).toBe(2)
    expect(run.host('boxed')).toMatchObject({ outcome: 'failed', error: { code: 'worker-down' } })
    expect(run.host('boxed').error?.detail).toContain('still thinking')
  })

  test('and one that fails at once is not waited for', async () => {
    await container.must(
      `printf '[Service]\\nType=simple\\nRestart=no\\nExecStart=\\nExecStart=/bin/sh -c "seq 30; echo no image; sleep 0.3; exit 3"\\n' >"/etc/systemd/system/$1.d/zz-hangs.conf"
       systemctl daemon-reload; systemctl stop "$1"`,
      [WORKER_UNIT],
    )
    // More lines than are shown: on 252 `journalctl -n` with `-S` would give the first of them and not the last.
    // Five minutes are allowed, more than this test may take.
    const run = await drover(lab, ['run', 'remediate', '-l', 'boxed', '-e', 'stable_s=1', '-e', 'within_s=300'])
    expect(run.host('boxed')).toMatchObject({ outcome: 'failed', error: { code: 'worker-down' } })
    expect(run.host('boxed').error?.detail).toContain('no image')
  })
})
