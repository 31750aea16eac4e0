import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { faultsOf, layoutOf, traces } from '../support/agent-layout.ts'
import { changesOf, type DroverEnd, drover, execsOf, startDrover, statusOf } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { LEGACY, ROOT, rootState } from '../support/host-root.ts'
import { makeReady } from '../support/host-root-states.ts'
import { dieAt } from '../support/moving-agent.ts'
import {
  again,
  everything,
  extras,
  halfMoved,
  helpersBelow,
  install,
  keptOnReset,
  missing,
  plant,
  plantDropIn,
  reset,
  taken,
  uninstall,
} from '../support/reset.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { blockedAs, expectCode } from '../support/upgrade.ts'

/**
 * Story: an agent is taken off its host, on systemd 252 and 257 and with a read-only /usr: all of domain.md 8.1 is seen and then
 * gone, all of 8.3 is seen and stays, from whatever state its root is in (11.48, 11.49; rules M1, M8, W1; O-4, O-14).
 */

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
let acl: LabHost
let odd: LabHost

beforeAll(async () => {
  lab = await openLab('reset', { yes: true })
  ;[rhel, ubuntu, acl, odd] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', layout: 'linked', ...extras }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'new', layout: 'moved', ...extras, worker: 'real' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', ...extras }),
    lab.boot({ name: 'odd', image: 'rhel9-like', agent: 'new', layout: 'linked', ...extras }),
  ])
  await Promise.all([rhel, ubuntu, acl, odd].map(plant))
  await plantDropIn(ubuntu)
})

afterAll(() => lab?.close())

const three = (): LabHost[] => [rhel, ubuntu, acl]
const names = 'rhel9,ubuntu24,acl3'
/** Findings too that are no warnings. */
const said = (run: DroverEnd): string => JSON.stringify(run.report)
const isUnchanged = (run: DroverEnd, host: LabHost): void => {
  expectCode(run, 0)
  expect(run.host(host.name)).toMatchObject({ outcome: 'unchanged', changes: 0 })
  expect(execsOf(run, host.name)).toEqual(['inspect'])
}
/** Nothing of what a reset takes, and nothing of drover's. */
const isReset = async (host: LabHost, where = host.name): Promise<void> => {
  expect(await taken(host), where).toEqual([])
  expect(await traces(host), where).toBe('')
  expect(await host.must('systemctl list-units --failed --no-legend --plain'), where).not.toMatch(/aks-flex|unbounded/)
}

describe('a host that has everything', () => {
  test('11.48 it is all there: what must go, path by path and unit by unit, and what must stay', async () => {
    for (const host of three()) {
      expect(await taken(host), host.name).toEqual(everything(host.agentRoot).sort())
      expect(await missing(host), host.name).toEqual([])
    }
  })

  test('is not reset without a word that it is meant, and nobody connects to it for that', async () => {
    for (const args of [[], ['--confirm', '2'], ['--confirm', '4']]) {
      const run = await drover(lab, ['run', 'reset', '-l', names, ...args])
      expectCode(run, 5)
      expect(run.stderr).toContain('confirmation-missing')
      expect(run.events.map(({ type }) => type)).not.toContain('host-started')
    }
  })

  test('shows in a dry run what would go, and keeps all of it', async () => {
    const before = await Promise.all(three().map(snapshotOf))
    const run = await drover(lab, ['run', 'reset', '-l', names, '--check'])
    expectCode(run, 0)
    for (const host of three()) {
      expect(run.host(host.name).outcome).toBe('would-change')
      expect(changesOf(run.host(host.name)).join('\n')).toContain('aks-flex-node-bootstrap.service')
    }
    expect(await Promise.all(three().map(snapshotOf))).toEqual(before)
  })

  test('11.48 W1 loses all of it, and what stays is the same byte for byte', async () => {
    const before = await Promise.all(three().map(keptOnReset))
    const run = await drover(lab, ['run', 'reset', '-l', names, '--confirm', '3'])
    expectCode(run, 0)
    for (const [index, host] of three().entries()) {
      expect(run.host(host.name).outcome).toBe('changed')
      await isReset(host)
      expect(await keptOnReset(host), host.name).toEqual(before[index])
      expect(before[index]?.join('\n'), host.name).toContain('/opt/unbounded directory 750 root:root')
    }
    // O-14, M8
    expect(run.stdout).toContain('static-routes.service')
    expect(said(run)).toContain(`${ROOT}/bin/aks-flex-node`)
  })

  test('11.49 has nothing left to do the second time, at the price of one command', async () => {
    const run = await drover(lab, ['run', 'reset', '-l', names, '-y'])
    for (const host of three()) isUnchanged(run, host)
  })

  test('O-14 units of host routes go when that is wanted', async () => {
    const run = await reset(lab, rhel, '-e', 'remove_host_routes=true')
    expectCode(run, 0)
    expect(await rhel.must('ls /etc/systemd/system | grep static-routes || :')).toBe('')
    isUnchanged(await reset(lab, rhel, '-e', 'remove_host_routes=true'), rhel)
  })

  test('stays as it is over a reboot', async () => {
    await ubuntu.reboot()
    await isReset(ubuntu)
  })

  test('M1 11.21 gets an agent again, which runs from the layout that was kept', async () => {
    const inodes = (host: LabHost): Promise<string> =>
      host.must('stat -c "%n %i" "$1"/lib/aks-flex-node/aks-flex-node-blue', [host.agentRoot])
    const before = await Promise.all(three().map(inodes))
    const run = await install(lab, names, 'v0.3.0')
    expectCode(run, 0)
    for (const [index, host] of three().entries()) {
      const seen = await layoutOf(host)
      expect(faultsOf({ ...seen, inWorker: 'same' }), host.name).toEqual([])
      expect(seen).toMatchObject({ root: host.agentRoot, version: 'v0.3.0' })
      expect(await inodes(host), host.name).toBe(before[index])
    }
    await reset(lab, acl)
  })
})

describe.concurrent('whatever state its root is in', () => {
  const states = [
    ['rhel9', ['MOVING-1', 'CONFLICT', 'STAGING']],
    ['ubuntu24', ['MOVING-2', 'SWAP-GAP']],
  ] as const

  test.each(states)(
    '11.49 %s is reset half moved: %s, both roots are swept, and uninstall is the way out',
    async (name, ways) => {
      for (const state of ways) {
        const host = await again(lab.host(name), { layout: 'linked' })
        await host.must(halfMoved[state])
        const where = `${state} on ${name}`
        expect(await statusOf(lab, name), where).toMatchObject({ hostRoot: state })
        const roots = state.startsWith('MOVING') || state === 'CONFLICT' ? [ROOT, LEGACY] : [LEGACY]
        expect(await taken(host), where).toEqual(expect.arrayContaining(roots.flatMap(helpersBelow)))
        const before = await keptOnReset(host)
        const run = await reset(lab, host)
        expectCode(run, 0)
        await isReset(host, where)
        expect(await keptOnReset(host), where).toEqual(before)
        expect(run.stdout, where).toContain(
          `the agent's binaries lie as they lay (${state === 'MOVING-2' ? 'MOVING-1' : state})`,
        )
        isUnchanged(await reset(lab, host), host)
        expectCode(await uninstall(lab, host), 0)
        expect(await rootState(host), where).toMatchObject({
          root: 'absent',
          underRoot: [],
          underLegacy: [],
          staging: false,
        })
      }
    },
    180_000,
  )

  test('11.49 acl3 has a root that is the link of an operator: the link stays, and what it leads to is swept', async () => {
    const host = await again(acl)
    await host.must(
      `systemctl stop "$1"; rm -rf /srv/agent; mv "$2" /srv/agent; ln -s /srv/agent "$2"; systemctl start "$1"`,
      [AGENT_UNIT, ROOT],
    )
    expect(await host.must('ls "$@"', helpersBelow('/srv/agent'))).not.toBe('')
    const before = await keptOnReset(host)
    expectCode(await reset(lab, host), 0)
    await isReset(host)
    expect(await host.must('ls "$@" 2>/dev/null || :', helpersBelow('/srv/agent'))).toBe('')
    expect(await keptOnReset(host)).toEqual(before)
    expect(await rootState(host)).toMatchObject({ root: '-> /srv/agent' })
    isUnchanged(await reset(lab, host), host)
  })

  test('O-4 odd begins to move just as it is stopped, and nothing of it is left in either root', async () => {
    const moves = { version: 'v0.4.0', moves: true } as const
    for (const point of ['renamed', 'restart-queued', null] as const) {
      await reset(lab, odd)
      const host = await again(odd, { layout: 'legacy', agent: moves, firstBoot: false })
      const dry = await drover(lab, ['run', 'reset', '-l', host.name, '--check'])
      const at = changesOf(dry.host(host.name)).indexOf(`systemctl stop ${AGENT_UNIT}`)
      expect(at, dry.stdout).toBeGreaterThan(0)
      await freezeAt(host, at)
      const run = startDrover(lab, ['run', 'reset', '-l', host.name, '-y'])
      await Promise.race([untilFrozen(host), run.ended.then(({ stdout }) => expect.fail(stdout))])
      if (point !== null) await dieAt(host, point)
      await makeReady(host)
      await host.must('systemctl restart "$1"', [AGENT_UNIT])
      await until('the move', 20_000, async () => ((await rootState(host)).root === 'directory' ? true : undefined), 20)
      await thaw(host)
      const end = await run.ended
      expectCode(end, 0)
      await isReset(host, `${point}`)
      // Whatever it had queued: it does not come back.
      expect(await host.must("systemctl list-units --all --no-legend --plain 'aks-flex-node-*'"), `${point}`).toBe('')
      expect(await rootState(host), `${point}`).toMatchObject({ root: 'directory' })
      isUnchanged(await reset(lab, host), host)
    }
  }, 180_000)
})

describe('an agent whose own reset is not to be relied on', () => {
  test('M8 fails: said so, and a run without it ends what it began', async () => {
    await reset(lab, odd)
    const host = await again(odd, { agent: { version: 'v0.3.1', reset: 'fails' } })
    const run = await reset(lab, host)
    expectCode(run, 2)
    expect(run.host(host.name)).toMatchObject({ outcome: 'failed', error: { code: 'reset-failed' } })
    expect(run.stdout).toContain('kube1: cannot inspect the machine')
    expect(await taken(host)).toContain('active systemd-nspawn@kube1.service')
    expect(await taken(host)).not.toContain(`active ${AGENT_UNIT}`)
    const second = await reset(lab, host)
    expect(second.host(host.name).error?.code, second.stdout).toBe('reset-failed')
    expectCode(await reset(lab, host, '--without-agent-reset'), 0)
    expect(await taken(host)).toEqual(['/run/bpffs/kube1'])
    isUnchanged(await reset(lab, host, '--without-agent-reset'), host)
  })

  test('O-4 forgets a root: drover sweeps it', async () => {
    const host = await again(odd, { layout: 'moved', agent: { version: 'v0.3.1', reset: 'forgets-roots' } })
    expect(await taken(host)).toEqual(expect.arrayContaining(helpersBelow(ROOT)))
    expectCode(await reset(lab, host), 0)
    await isReset(host)
  })

  test('M8 has no binary that could be used: drover removes by name, and says so', async () => {
    const host = await again(odd, { layout: 'linked' })
    await host.must('systemctl stop "$1"; printf torn >/usr/local/lib/aks-flex-node/aks-flex-node-blue', [AGENT_UNIT])
    const before = await keptOnReset(host)
    const run = await reset(lab, host)
    expectCode(run, 0)
    expect(said(run)).toContain("the agent's own reset was not run")
    expect(await taken(host)).toEqual(['/run/bpffs/kube1'])
    expect(await keptOnReset(host)).toEqual(before)
  })

  test('M8 would delete an interface that may be yours: only with your word, and without its reset never', async () => {
    const host = await again(odd, { layout: 'linked' })
    const interfaces = (): Promise<string> => host.must('cd /sys/class/net && ls -d wg0 wg7 2>/dev/null || :')
    await host.must('ip link add wg0 type bridge; ip link add wg7 type bridge')
    const before = await snapshotOf(host)
    for (const args of [[], ['--allow-interface', 'wg7']])
      expect(blockedAs(await reset(lab, host, ...args), host, 'interfaces-would-go')).toContain('wg0')
    expect(await snapshotOf(host)).toEqual(before)
    const swept = await reset(lab, host, '--without-agent-reset')
    expectCode(swept, 0)
    expect(swept.stdout).toContain('the network interface wg0 is there')
    expect(await taken(host)).toEqual(['/run/bpffs/kube1'])
    expect(await interfaces()).toBe('wg0\nwg7')

    await again(odd, { layout: 'linked' })
    expectCode(await reset(lab, host, '--allow-interface', 'wg0', '--allow-interface', 'wg7'), 0)
    await isReset(host)
    expect(await interfaces()).toBe('')
    expect(await host.must('ls -d /sys/class/net/keep0')).toBe('/sys/class/net/keep0')
  })
})
