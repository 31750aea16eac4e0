import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost, WORKER_UNIT } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type AgentLayout, agentJournal, layoutOf, now, startLimit } from '../support/agent-layout.ts'
import { changesOf, type DroverEnd, drover, execsOf } from '../support/drover.ts'
import { agentArgs, damagedReleaseVar, damages, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { mainPid, workerStarts } from '../support/units.ts'
import {
  blockedAs,
  expectCode,
  expectRuns,
  freeLock,
  holdLock,
  isBack,
  readyCommand,
  short,
} from '../support/upgrade.ts'

/**
 * Story: a new agent on systemd 252 and 257 and on an ACL-like host. Each host ends on the new one, seen to be healthy,
 * or on the one before, with the reason (domain.md 11.36 to 11.43; rules U1, U2, U5 to U9, W4).
 */

let lab: Lab
/** LEGACY with v0.2.0; a real machine as worker. */
let rhel: LabHost
/** LEGACY with v0.2.0. */
let ubuntu: LabHost
/** MOVED with v0.3.0, sudo, and `reset-failed` denied. */
let acl: LabHost
let hosts: LabHost[]
let good: ReleaseVar
/** On a host of its own, with the durations that upgrade has by itself: it goes on beside the others. */
let patient: Promise<DroverEnd>

beforeAll(async () => {
  lab = await openLab('upgrade', { yes: true })
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'old', worker: 'real' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'old', worker: 'sleep' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  hosts = [rhel, ubuntu, acl]
  good = await releaseVar(lab, { version: 'v0.4.0' })
  const slow = await lab.boot({ name: 'slow', image: 'ubuntu-like', agent: 'old', worker: 'sleep' })
  patient = drover(lab, ['run', 'upgrade', '-l', slow.name, ...agentArgs(good)])
  // Nothing can clear the counter of starts there, and a window of five minutes is waited for in one place only.
  await startLimit(acl, 12)
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all(hosts.map((host) => check(host)))
}

const upgrade = (agent: ReleaseVar, ...more: readonly string[]) =>
  drover(lab, ['run', 'upgrade', '-l', 'rhel9,ubuntu24,acl3', ...agentArgs(agent), ...short, ...more])

/** What was done to the agent, or would be: the first step of the playbook. */
const agentChanges = (run: DroverEnd, host: LabHost): string[] =>
  (run.host(host.name).steps[0]?.changes ?? []).map(({ summary }) => summary)

const layouts = (): Promise<AgentLayout[]> => Promise.all(hosts.map(layoutOf))

describe('11.36 a good release', () => {
  let before: AgentLayout[]
  let planned: string[][]

  test('11.39 --check --diff shows all of it, with nothing that would be known later only, and changes nothing', async () => {
    before = await layouts()
    const check = await upgrade(good, '--check', '--diff')
    expectCode(check, 0)
    planned = hosts.map((host) => agentChanges(check, host))
    for (const host of hosts) {
      const report = check.host(host.name)
      expect(report.outcome, host.name).toBe('would-change')
      expect(report.steps[0]?.knownAfter, host.name).toBe(null)
      expect(execsOf(check, host.name)).toEqual(['inspect'])
    }
    expect(await layouts()).toEqual(before)
  })

  test('is switched to: each does exactly what was shown, last-good is the one before, and no worker notices', async () => {
    const run = await upgrade(good)
    expectCode(run, 0)
    expect(hosts.map((host) => agentChanges(run, host))).toEqual(planned)
    for (const [index, host] of hosts.entries()) {
      const seen = await expectRuns(host, good.version)
      expect(seen, host.name).toMatchObject({
        root: before[index]?.root,
        current: 'green',
        lastGood: 'blue',
        lastGoodVersion: before[index]?.version,
        worker: before[index]?.worker,
      })
      expect([...new Set(execsOf(run, host.name))]).toEqual(['inspect', 'upload', 'apply', 'verify', 'confirm'])
    }
    // U2: the new daemon linked the host root; nothing was moved.
    expect(await rhel.must('readlink /opt/unbounded/agent; stat -c %a /opt/unbounded')).toBe('/usr/local\n755')
  })

  test('again: one remote command, nothing changed', async () => {
    const again = await upgrade(good)
    expectCode(again, 0)
    await each(async (host) => {
      expect(again.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
      expect(execsOf(again, host.name)).toEqual(['inspect'])
    })
  })
})

describe('11.37 a release that is not healthy', () => {
  test.each([
    ['exits 42 as agent', { version: 'v0.6.0', behaviour: 'exits-42' }, [], 'cannot reach the cluster'],
    [
      'dies after ten seconds',
      { version: 'v0.6.1', behaviour: 'dies' },
      ['-e', 'stable_s=14', '-e', 'confirm_within_s=35'],
      'out of memory',
    ],
    ['hangs, which the user’s own check sees', { version: 'v0.6.2', behaviour: 'hangs' }, readyCommand('v0.6.2'), ''],
  ] as const)('%s: every host is back on the one before, and drover says why', async (_what, build, more, words) => {
    const before = await layouts()
    const run = await upgrade(await releaseVar(lab, build), ...more)
    expectCode(run, 7)
    for (const [index, host] of hosts.entries()) {
      const { outcome, error } = run.host(host.name)
      expect(outcome, host.name).toBe('rolled-back')
      expect(error?.detail ?? '', host.name).toContain(words)
      isBack(await expectRuns(host, good.version), before[index] as AgentLayout)
    }
  })

  test.each([
    ['hangs when asked for its version', { version: 'v0.6.3', behaviour: 'hangs-in-version' }, 'v0.6.3'],
    ['is another version than it should be', { version: 'v0.6.4' }, 'v0.6.5'],
  ] as const)('%s: refused before anything is switched', async (_what, build, version) => {
    const before = await layouts()
    const run = await upgrade({ ...(await releaseVar(lab, build)), version })
    expectCode(run, 2)
    for (const host of hosts)
      expect(run.host(host.name), host.name).toMatchObject({ outcome: 'failed', error: { code: 'candidate-unfit' } })
    // Not so much as restarted. Last-good was secured first (U1), and both links lead to what runs.
    expect((await layouts()).map(({ pid, version }) => [pid, version])).toEqual(
      before.map(({ pid, version }) => [pid, version]),
    )
    await each(async (host) => {
      const seen = await expectRuns(host, good.version)
      expect([seen.current, seen.lastGoodVersion]).toEqual([seen.lastGood, good.version])
    })
  })

  test.each(damages)('archive: %s: refused before any host is touched', async (damage) => {
    const run = await upgrade(await damagedReleaseVar(lab, { version: 'v0.7.0' }, damage))
    expectCode(run, 5)
    expect(run.stderr).toContain('release-invalid')
    expect(run.events.filter(({ type }) => type === 'exec' || type === 'host-connected')).toEqual([])
  })

  test('11.38 a good one after that is taken', async () => {
    good = await releaseVar(lab, { version: 'v0.5.0' })
    expectCode(await upgrade(good), 0)
    await each(async (host) => void (await expectRuns(host, 'v0.5.0')))
  })
})

test('with the durations that upgrade has by itself: up for 45 s, and five minutes to confirm it', async () => {
  const run = await patient
  expectCode(run, 0)
  await expectRuns(lab.host('slow'), 'v0.4.0')
  expect(run.host('slow').ms).toBeGreaterThan(45_000)
  expect(changesOf(run.host('slow')).join('\n')).toMatch(/it fires after (300 s|5 min)/)
})

describe('who else is at work', () => {
  test('somebody holds the agent’s lock: blocked, and who it is', async () => {
    const other = await releaseVar(lab, { version: 'v0.5.1' })
    await each(async (host) => void (await holdLock(host)))
    const run = await upgrade(other)
    await each(async (host) => {
      expect(blockedAs(run, host, 'activation-locked')).toContain('story-holder.service')
      await freeLock(host)
      await expectRuns(host, good.version)
    })
  })

  test('an upgrade of the cluster’s is not over: blocked, and its signal is left alone', async () => {
    const signal = '/etc/aks-flex-node/agent-upgrade-signal.json'
    await each(async (host) => void (await host.put(signal, '{"operationName":"nightly"}\n', '0600')))
    const run = await upgrade(await releaseVar(lab, { version: 'v0.5.1' }))
    await each(async (host) => {
      expect(blockedAs(run, host, 'upgrade-pending')).toContain('nightly')
      expect(await host.must('cat "$1"', [signal])).toContain('nightly')
      await host.must('rm "$1"', [signal])
    })
  })
})

describe('U5 an agent that does not run', () => {
  test('11.39 inactive: is switched, stays inactive, and was not health-checked', async () => {
    good = await releaseVar(lab, { version: 'v0.5.2' })
    await each(async (host) => void (await host.must('systemctl stop "$1"', [AGENT_UNIT])))
    const run = await upgrade(good)
    expectCode(run, 0)
    await each(async (host) => {
      expect(run.host(host.name).outcome).toBe('changed')
      expect(JSON.stringify(run.host(host.name).findings)).toContain('not-health-checked')
      expect(await layoutOf(host), host.name).toMatchObject({ active: 'inactive', version: good.version })
      await host.must('systemctl start "$1"', [AGENT_UNIT])
      await expectRuns(host, good.version)
    })
  })

  test('failed: is started', async () => {
    good = await releaseVar(lab, { version: 'v0.5.3' })
    await each(async (host) => {
      await host.must(
        `mkdir -p /run/systemd/system/$1.d; printf '[Service]\\nRestart=no\\n' >/run/systemd/system/$1.d/99-story.conf; systemctl daemon-reload
         systemctl kill -s KILL "$1"; until [ "$(systemctl is-active "$1")" = failed ]; do sleep 0.05; done
         rm /run/systemd/system/$1.d/99-story.conf; systemctl daemon-reload`,
        [AGENT_UNIT],
      )
    })
    expectCode(await upgrade(good), 0)
    await each(async (host) => void (await expectRuns(host, good.version)))
  })
})

describe('11.42 start limit', () => {
  test('four of five starts in the window are used: the planned restart does not trip it', async () => {
    good = await releaseVar(lab, { version: 'v0.5.4' })
    await each(async (host) => {
      await startLimit(host, 25)
      await host.must('for i in 1 2 3 4; do systemctl restart "$1"; done', [AGENT_UNIT])
    })
    const since = await now(acl)
    const run = await upgrade(good)
    expectCode(run, 0)
    await each(async (host) => void (await expectRuns(host, good.version)))
    // U7: where the counter cannot be cleared the window is waited for instead.
    expect(changesOf(run.host('acl3')).join('\n')).toMatch(/has room for a start/)
    expect(await agentJournal(acl, since)).not.toContain('Start request repeated too quickly')
    await startLimit(acl, 12)
  })
})

describe('W4 workers', () => {
  test('one that runs keeps its leader, one that is disabled stays stopped, one that should run is brought back', async () => {
    good = await releaseVar(lab, { version: 'v0.5.5' })
    await ubuntu.must('systemctl disable --quiet --now "$1"', [WORKER_UNIT])
    await acl.must('systemctl stop "$1"', [WORKER_UNIT])
    const leader = await mainPid(rhel, WORKER_UNIT)
    expectCode(await upgrade(good), 0)
    await each(async (host) => void (await expectRuns(host, good.version)))
    expect([await mainPid(rhel, WORKER_UNIT), await mainPid(ubuntu, WORKER_UNIT)]).toEqual([leader, '0'])
    expect((await acl.unit(WORKER_UNIT)).ActiveState).toBe('active')
  })

  test('one that should run and cannot ends its host as worker-down; the new agent is kept', async () => {
    good = await releaseVar(lab, { version: 'v0.5.6' })
    await workerStarts(ubuntu, 'Type=exec\nExecStartPre=/bin/sh -c "echo the image of kube1 is broken >&2; exit 3"')
    await ubuntu.must('systemctl enable --quiet "$1"', [WORKER_UNIT])
    const run = await upgrade(good, '-l', 'ubuntu24', '-e', 'worker_within_s=3')
    expectCode(run, 2)
    expect(run.host('ubuntu24')).toMatchObject({ outcome: 'failed', error: { code: 'worker-down' } })
    await expectRuns(ubuntu, good.version)
  })
})
