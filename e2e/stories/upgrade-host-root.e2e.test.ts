import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { agentJournal, layoutOf, now, traces } from '../support/agent-layout.ts'
import { type DroverEnd, drover } from '../support/drover.ts'
import { agentArgs, type ReleaseSpec, type ReleaseVar, releaseVar } from '../support/releases.ts'
import { blockedAs, expectCode, expectRuns, isBack, short } from '../support/upgrade.ts'

/** Story: a switch on every layout of the host root (domain.md 6.1, 7.5, 11.26, 11.40, 11.41; rules U2, U8, U9; O-8). */

const seed = '/usr/local/bin/aks-flex-node'
const older: ReleaseSpec = { version: 'v0.2.0', knows: 'slots' }

let lab: Lab
let moved: LabHost
let linked: LabHost
let plain: LabHost
let release: (spec: ReleaseSpec) => Promise<ReleaseVar>

beforeAll(async () => {
  lab = await openLab('upgrade-root', { yes: true })
  ;[moved, linked, plain] = await Promise.all([
    lab.boot({ name: 'moved', image: 'ubuntu-like', agent: 'new', layout: 'moved', worker: 'sleep' }),
    lab.boot({ name: 'linked', image: 'rhel9-like', agent: 'new', layout: 'linked', worker: 'sleep' }),
    lab.boot({ name: 'plain', image: 'rhel9-like', agent: 'plain', layout: 'plain', worker: 'sleep' }),
  ])
  release = (spec) => releaseVar(lab, spec)
})

afterAll(() => lab?.close())

const upgrade = (host: LabHost, agent: ReleaseVar, ...more: readonly string[]): Promise<DroverEnd> =>
  drover(lab, ['run', 'upgrade', '-l', host.name, ...agentArgs(agent), ...short, ...more])

const underLegacy = (host: LabHost): Promise<string> =>
  host.must('ls -A /usr/local/bin /usr/local/lib /usr/local/libexec 2>/dev/null | grep -v ":$" | grep . || :')

describe('a release from before the host root', () => {
  test('11.40 on a MOVED host: refused before anything is brought there', async () => {
    const before = await layoutOf(moved)
    const message = blockedAs(await upgrade(moved, await release(older)), moved, 'downgrade-refused')
    expect(message).toContain('v0.2.0')
    expect(await layoutOf(moved)).toEqual(before)
  })

  test('11.40 allowed all the same: it fails, the host is back, and nothing lies under /usr/local', async () => {
    const before = await layoutOf(moved)
    const run = await upgrade(moved, await release(older), '-e', 'allow_host_root_downgrade=true')
    expectCode(run, 7)
    expect(run.host('moved').error?.detail).toContain('no such file or directory')
    isBack(await expectRuns(moved, 'v0.3.0'), before)
    expect(await underLegacy(moved)).toBe('')
  })

  test('on a LINKED host: runs, since every old path is still there', async () => {
    expectCode(await upgrade(linked, await release(older)), 0)
    await expectRuns(linked, 'v0.2.0')
    expect(await linked.must('readlink /opt/unbounded/agent')).toBe('/usr/local')
  })
})

describe('U9 whether a release knows the host root is never guessed', () => {
  test.each([
    ['it does not say', { version: 'v0.4.1', hostRootSince: null }],
    ['its version is no number', { version: 'dev' }],
  ] as const)('%s: refused where there is one', async (_what, spec) => {
    const agent = await release(spec)
    for (const host of [moved, linked]) blockedAs(await upgrade(host, agent), host, 'downgrade-refused')
  })

  test('a build without a number that is declared is taken', async () => {
    expectCode(await upgrade(moved, await release({ version: 'dev', hostRootSince: 'dev' })), 0)
    await expectRuns(moved, 'dev')
  })
})

describe('U8 what an older release would adopt', () => {
  test('11.41 a file at /usr/local/bin/aks-flex-node goes with the switch, and comes back with the rollback', async () => {
    await moved.put(seed, '#!/bin/sh\necho seed\n', '0755')
    const crash = await upgrade(moved, await release({ version: 'v0.6.0', behaviour: 'exits-42' }))
    expectCode(crash, 7)
    expect(await moved.must('"$1"', [seed])).toBe('seed')
    expectCode(await upgrade(moved, await release({ version: 'v0.4.0' })), 0)
    await expectRuns(moved, 'v0.4.0')
    expect(await underLegacy(moved)).toBe('')
  })

  test('a link there that leads to an executable is refused, and kept', async () => {
    await moved.must('ln -s /usr/bin/true "$1"', [seed])
    const message = blockedAs(await upgrade(moved, await release({ version: 'v0.4.2' })), moved, 'precondition-unmet')
    expect(message).toContain(seed)
    expect(await moved.must('readlink "$1"; rm "$1"', [seed])).toBe('/usr/bin/true')
  })
})

describe('U2 the agent would move its files just when it is switched', () => {
  test('finds the lock held by drover, goes on, and the host stays linked', async () => {
    expectCode(await upgrade(linked, await release({ version: 'v0.4.0' })), 0)
    const since = await now(linked)
    // Now both slots know the host root: the time of the real move.
    expectCode(await upgrade(linked, await release({ version: 'v0.5.0' })), 0)
    const said = await agentJournal(linked, since)
    expect(said).toContain('v0.5.0: an activation holds the lock')
    expect(said).not.toContain('would move')
    await expectRuns(linked, 'v0.5.0')
    // Held no longer than that.
    await linked.must('flock -n /run/aks-flex-node-agent-upgrade.lock true')
  })
})

describe('O-8 a release from before the slots', () => {
  const look = (): Promise<string> =>
    plain.must(
      `stat -c '%F %a' "$1"; "$1" version | grep Version; grep ^ExecStart= /etc/systemd/system/aks-flex-node-agent.service
      readlink "/proc/$(systemctl show -p MainPID --value aks-flex-node-agent.service)/exe"; cmp "$1" /var/lib/machines/kube1/usr/local/bin/aks-flex-node && echo same`,
      [seed],
    )

  test('a candidate that crashes: the host is back on its plain binary', async () => {
    const before = await look()
    expectCode(await upgrade(plain, await release({ version: 'v0.6.0', behaviour: 'exits-42' })), 7)
    expect(await look()).toBe(before)
    expect(await traces(plain)).toBe('')
  })

  test('a good one: slots are laid out, and the plain binary is the one to go back to', async () => {
    expectCode(await upgrade(plain, await release({ version: 'v0.4.0' })), 0)
    expect(await expectRuns(plain, 'v0.4.0')).toMatchObject({
      current: 'green',
      lastGood: 'blue',
      lastGoodVersion: 'v0.1.4',
    })
  })
})
