import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import {
  type AgentLayout,
  agentJournal,
  armedOn,
  layoutOf,
  now,
  traces,
  untilSettled,
} from '../support/agent-layout.ts'
import { changesOf, type DroverProcess, drover, execsOf, startDrover } from '../support/drover.ts'
import { agentArgs, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { age, blockedAs, expectCode, expectRuns, isBack, short } from '../support/upgrade.ts'

/** Story: a switch that nobody confirms, and what a person or another run may do with it (rules U2 to U4, E4). */

let lab: Lab
/** LINKED, systemd 252. */
let rhel: LabHost
/** LINKED, systemd 257. */
let ubuntu: LabHost
/** MOVED, sudo. */
let acl: LabHost
let hosts: LabHost[]
let good: ReleaseVar
let next: ReleaseVar

beforeAll(async () => {
  lab = await openLab('upgrade-guard', { yes: true })
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', worker: 'sleep' }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'new', worker: 'sleep' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', worker: 'sleep' }),
  ])
  hosts = [rhel, ubuntu, acl]
  ;[good, next] = await Promise.all([releaseVar(lab, { version: 'v0.4.0' }), releaseVar(lab, { version: 'v0.5.0' })])
  // Nothing clears the counter of starts on the third, and this story starts its agent often.
  await acl.must(
    'd=/etc/systemd/system/aks-flex-node-agent.service.d; mkdir -p "$d"; printf "[Unit]\\nStartLimitIntervalSec=8\\n" >"$d/90-story.conf"; systemctl daemon-reload',
  )
})

afterAll(() => lab?.close())

const each = async (check: (host: LabHost) => Promise<void>): Promise<void> => {
  await Promise.all(hosts.map((host) => check(host)))
}
const layouts = (): Promise<AgentLayout[]> => Promise.all(hosts.map(layoutOf))
const upgradeArgs = (agent: ReleaseVar, more: readonly string[] = []): string[] => [
  'run',
  'upgrade',
  ...agentArgs(agent),
  ...short,
  ...more,
]

/** Until every host has armed its rollback and runs the candidate, which is still being watched. */
const untilSwitched = async (run: DroverProcess, version: string): Promise<void> => {
  await each(async (host) => {
    await run.until('rollback-armed', (event) => event.host === host.name)
    await until(`${host.name} to run ${version}`, 20_000, async () => {
      const { active, exe, current } = await layoutOf(host)
      const runs = (await host.sh('cat /run/lab-agent-ready')).stdout.trim()
      return active === 'active' && runs === version && exe.endsWith(current) ? true : undefined
    })
  })
}

const killed = async (run: DroverProcess): Promise<void> => {
  run.child.kill('SIGKILL')
  await run.ended
}

describe('nobody confirms', () => {
  test('the workstation dies after the switch: each host is back by itself, and meanwhile the agent moved nothing', async () => {
    const before = await layouts()
    const since = await now(rhel)
    const run = startDrover(lab, upgradeArgs(good, ['-e', 'stable_s=5']))
    await untilSwitched(run, 'v0.4.0')
    await killed(run)
    for (const [index, host] of hosts.entries()) isBack(await untilSettled(host, 60_000), before[index] as AgentLayout)
    const said = await agentJournal(rhel, since)
    expect(said).toContain('v0.4.0: an activation holds the lock')
    expect(said).not.toContain('would move')
    // One line is left, for the next run to tell of.
    await each(async (host) => {
      expect(await traces(host)).toContain('/var/lib/drover/rolled-back')
      await age(host)
    })
  })

  test('the next run says so first, and is not kept from doing it', async () => {
    const run = await drover(lab, upgradeArgs(good))
    expectCode(run, 0)
    await each(async (host) => {
      expect(run.stdout).toMatch(new RegExp(`${host.name}.*(rolled back|undone|back on)`, 'i'))
      await expectRuns(host, 'v0.4.0')
    })
  })

  test('a reboot before the confirmation: back at once, before the new agent is started again', async () => {
    const before = await layouts()
    const run = startDrover(lab, upgradeArgs(next, ['-e', 'stable_s=30', '-e', 'confirm_within_s=120']))
    await untilSwitched(run, 'v0.5.0')
    await killed(run)
    await each(async (host) => void (await host.reboot()))
    for (const [index, host] of hosts.entries()) {
      const seen = await untilSettled(host, 40_000)
      isBack(seen, { ...(before[index] as AgentLayout), worker: seen.worker })
      expect(
        await host.must(
          'journalctl -q -o cat -b -u aks-flex-node-agent.service --since "@$(stat -c %Y /proc/1)" | grep -c "v0.5.0" || :',
        ),
        host.name,
      ).toBe('0')
      await age(host)
    }
  })
})

describe('U4 a rollback that a dead run armed', () => {
  const long = ['-e', 'confirm_within_s=300', '-e', 'health_within_s=5', '-e', 'within_s=30']

  /** Armed by a run that is dead, with the candidate up; its apply goes on by itself for as long as it has to look. */
  const orphan = async (agent: ReleaseVar, more: readonly string[]): Promise<void> => {
    const run = startDrover(lab, upgradeArgs(agent, [...long, ...more]))
    await untilSwitched(run, agent.version)
    await killed(run)
  }
  const ended = (host: LabHost): Promise<true> =>
    until(`the apply on ${host.name} to end`, 60_000, async () =>
      (await host.sh('systemctl is-active --quiet drover-apply.service')).code === 0 ? undefined : true,
    )
  const leftArmed = async (host: LabHost): Promise<void> => {
    expect(await armedOn(host), host.name).toBe('armed')
    await age(host)
  }
  /** It came to its end: the candidate stayed up, and every check came out well. */
  const proved = async (agent: ReleaseVar): Promise<void> => {
    await orphan(agent, ['-e', 'stable_s=15'])
    await each(async (host) => {
      await ended(host)
      await leftArmed(host)
    })
  }
  /** It is cut while the candidate is still being watched. */
  const unproved = async (agent: ReleaseVar): Promise<void> => {
    await orphan(agent, ['-e', 'stable_s=60'])
    await each(async (host) => {
      await host.must('systemctl stop drover-apply.service')
      await leftArmed(host)
    })
  }

  test('another release is wanted, or the same, which was never proved: blocked, with the seconds left and both ways out', async () => {
    await unproved(next)
    const before = await layouts()
    const other = await releaseVar(lab, { version: 'v0.5.9' })
    for (const [wanted, why] of [
      [other, 'not what this step wants'],
      [next, 'has not been proved'],
    ] as const) {
      const run = await drover(lab, upgradeArgs(wanted))
      await each(async (host) => {
        const message = blockedAs(run, host, 'rollback-armed')
        expect(message).toMatch(/fires in \d+ s/)
        expect(message).toContain(why)
        expect(run.host(host.name).error?.remedy).toContain('drover confirm')
        expect(run.host(host.name).error?.remedy).toContain('drover rollback --now')
        expect(await armedOn(host)).toBe('armed')
      })
    }
    expect(await layouts()).toEqual(before)
    expectCode(await drover(lab, ['rollback', '--now']), 0)
    await each(async (host) => void (await expectRuns(host, 'v0.4.0')))
  })

  test('the same one is wanted, whose check came out badly: blocked', async () => {
    await orphan(next, ['-e', 'stable_s=10', '-e', JSON.stringify({ health_command: ['false'] })])
    await each(async (host) => {
      await ended(host)
      await leftArmed(host)
    })
    const run = await drover(lab, upgradeArgs(next))
    await each(async (host) => {
      expect(blockedAs(run, host, 'rollback-armed')).toContain('has not been proved')
      expect(await armedOn(host)).toBe('armed')
    })
    expectCode(await drover(lab, ['rollback', '--now']), 0)
    await each(async (host) => void (await expectRuns(host, 'v0.4.0')))
  })

  test('the same one is wanted, and was proved: it is confirmed, and nothing is restarted', async () => {
    await proved(next)
    const before = await layouts()
    const run = await drover(lab, upgradeArgs(next))
    expectCode(run, 0)
    expect(await layouts()).toEqual(before)
    await each(async (host) => void (await expectRuns(host, 'v0.5.0')))
  })

  test('drover rollback --now brings the one before back; drover confirm keeps the new one', async () => {
    const third = await releaseVar(lab, { version: 'v0.5.8' })
    await unproved(third)
    const [back, keep] = await Promise.all([
      drover(lab, ['rollback', '--now', '-l', 'rhel9']),
      drover(lab, ['confirm', '-l', 'ubuntu24,acl3']),
    ])
    for (const run of [back, keep]) expectCode(run, 0)
    await Promise.all([expectRuns(rhel, 'v0.5.0'), expectRuns(ubuntu, 'v0.5.8'), expectRuns(acl, 'v0.5.8')])
    // What was confirmed stays so at the next boot.
    await ubuntu.reboot()
    await untilSettled(ubuntu, 30_000)
    await expectRuns(ubuntu, 'v0.5.8')
  })
})

describe('a rollback that a person wants', () => {
  test('goes back to last-good, guarded like an upgrade, and once only', async () => {
    const args = ['run', 'rollback', ...short, '-l', 'ubuntu24,acl3', '-e', 'host_root_since=v0.3.0']
    const run = await drover(lab, args)
    expectCode(run, 0)
    for (const host of [ubuntu, acl]) {
      expect(await expectRuns(host, 'v0.5.0')).toMatchObject({ lastGoodVersion: 'v0.5.0' })
      expect(changesOf(run.host(host.name)).join('\n')).toContain('v0.5.0')
    }
    const again = await drover(lab, args)
    expectCode(again, 0)
    expect(execsOf(again, 'acl3')).toEqual(['inspect'])
  })
})

describe('while it is being watched', () => {
  test('another run is told whose the hosts are, and arms nothing', async () => {
    const [mine, other] = await Promise.all([
      releaseVar(lab, { version: 'v0.5.10' }),
      releaseVar(lab, { version: 'v0.5.11' }),
    ])
    const first = startDrover(lab, upgradeArgs(mine, ['-e', 'stable_s=8', '-e', 'confirm_within_s=60']))
    await untilSwitched(first, mine.version)
    const { run } = await first.until('run-started')
    const second = await drover(lab, upgradeArgs(other))
    await each(async (host) => expect(blockedAs(second, host, 'rollback-armed')).toContain(run))
    expectCode(await first.ended, 0)
    await each(async (host) => void (await expectRuns(host, mine.version)))
  })

  test('E4 Ctrl-C twice: drover says what every host will do, and every host does it', async () => {
    const release = await releaseVar(lab, { version: 'v0.5.12' })
    const before = await layouts()
    const run = startDrover(lab, upgradeArgs(release, ['-e', 'stable_s=10', '-e', 'confirm_within_s=25']))
    await untilSwitched(run, release.version)
    await run.interrupt('interrupted')
    await run.interrupt('interrupted again')
    const end = await run.ended
    expectCode(end, 130)
    for (const [index, host] of hosts.entries()) {
      const isBackAlready = end.host(host.name).outcome === 'rolled-back'
      if (!isBackAlready) expect(end.stdout).toContain(`rollback armed: ${host.name} undoes`)
      isBack(await untilSettled(host, 60_000), before[index] as AgentLayout)
    }
  })
})
