import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { until } from '../lab/wait.ts'
import { changesOf, drover, startDrover } from '../support/drover.ts'
import { freezeAt, thaw, untilFrozen } from '../support/freeze.ts'
import { isFull } from '../support/full.ts'
import { ROOT, rootState } from '../support/host-root.ts'
import { makeReady } from '../support/host-root-states.ts'
import { dieAt } from '../support/moving-agent.ts'
import { extras, helpersBelow, isReset, keptOnReset, taken } from '../support/reset.ts'
import { again, plant } from '../support/reset-hosts.ts'
import { isUnchanged, reset, said } from '../support/reset-runs.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { blockedAs, expectCode } from '../support/upgrade.ts'

/**
 * Story: hosts are reset whose agent is no help: it moves its files just then, its own reset fails, forgets a root, would take an
 * interface of the operator's, or cannot be run at all (O-4, rule M8).
 */

let lab: Lab
let odd: LabHost
let racing: LabHost

beforeAll(async () => {
  lab = await openLab('reset-odd', { yes: true })
  ;[odd, racing] = await Promise.all([
    lab.boot({ name: 'odd', image: 'rhel9-like', agent: 'new', layout: 'linked', ...extras }),
    lab.boot({ name: 'racing', image: 'ubuntu-like', agent: 'new', layout: 'linked', ...extras }),
  ])
  await Promise.all([odd, racing].map(plant))
})

afterAll(() => lab?.close())

test('O-4 one begins to move just as it is stopped, and nothing of it is left in either root', async () => {
  const moves = { version: 'v0.4.0', moves: true } as const
  for (const point of isFull ? (['renamed', 'restart-queued', null] as const) : (['renamed', null] as const)) {
    await reset(lab, racing)
    const host = await again(racing, { layout: 'legacy', agent: moves, firstBoot: false })
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
    const first = await run.ended
    // A restart that the agent has queued just then may come after its stop: that is noticed, and the next run ends it.
    const isOvertaken = first.host(host.name).error?.code === 'drifted'
    expectCode(isOvertaken ? await reset(lab, host) : first, 0)
    await isReset(host, `${point}`)
    // Whatever it had queued: it does not come back.
    expect(await host.must("systemctl list-units --all --no-legend --plain 'aks-flex-node-*'"), `${point}`).toBe('')
    expect(await rootState(host), `${point}`).toMatchObject({ root: 'directory' })
    isUnchanged(await reset(lab, host), host)
  }
}, 400_000)

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
