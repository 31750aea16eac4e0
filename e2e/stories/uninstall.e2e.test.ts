import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { faultsOf, layoutOf, traces } from '../support/agent-layout.ts'
import { changesOf, drover, statusOf } from '../support/drover.ts'
import { ROOT, rootState } from '../support/host-root.ts'
import { everything, extras, keptOnUninstall, missing, named, taken } from '../support/reset.ts'
import { again, halfMoved, plant } from '../support/reset-hosts.ts'
import { install, isUnchanged, uninstall } from '../support/reset-runs.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { blockedAs, expectCode } from '../support/upgrade.ts'

/**
 * Story: an agent is removed for good, on systemd 252 and 257 and with a read-only /usr, and so is what a reset keeps; what is
 * the operator's stays, and the host can have an agent again (11.16, 11.23, 11.24; domain.md 8.2, 8.3; O-12).
 */

let lab: Lab
/** Its move was cut before the copy was whole. */
let rhel: LabHost
/** Without a first-boot unit; its move is not finished, and somebody has put files beside the agent's. */
let ubuntu: LabHost
let acl: LabHost

const names = 'rhel9,ubuntu24,acl3'
const foreign = [`${ROOT}/libexec/operators-own`, `${ROOT}/lib/aks-flex-node/notes`]
const all = (): LabHost[] => [rhel, ubuntu, acl]

beforeAll(async () => {
  lab = await openLab('uninstall', { yes: true })
  const { firstBoot: _, ...noFirstBoot } = extras
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', layout: 'linked', ...extras }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'new', layout: 'moved', ...noFirstBoot }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', ...extras }),
  ])
  await Promise.all(all().map(plant))
  await rhel.must(halfMoved.STAGING)
  await ubuntu.must('touch "$1"; for f in $2 $3; do echo mine >"$f"; done', [`${ROOT}/.moving`, ...foreign])
})

afterAll(() => lab?.close())

test('11.23 it is all there, on hosts with a first-boot unit and on one without', async () => {
  for (const host of all()) {
    const wanted = everything(host.agentRoot, { firstBoot: host !== ubuntu })
    expect(await taken(host), host.name).toEqual(expect.arrayContaining(wanted))
    expect(await missing(host), host.name).toEqual([])
    expect((await named(host)).length, host.name).toBeGreaterThan(10)
  }
})

test('11.23 nothing is removed without a word that it is meant, and nobody connects for that', async () => {
  const runs = [
    [],
    ['-y'],
    ['--confirm', '3'],
    ['--yes-remove-everything'],
    ['--confirm', '2', '--yes-remove-everything'],
  ].map(async (args) => {
    const run = await drover(lab, ['run', 'uninstall', '-l', names, ...args])
    expectCode(run, 5)
    expect(run.stderr, args.join(' ')).toContain('confirmation-missing')
    expect(run.events.map(({ type }) => type)).not.toContain('host-started')
  })
  await Promise.all(runs)
})

test('a dry run needs no flag, shows what it would do, and does nothing', async () => {
  const before = await Promise.all(all().map(snapshotOf))
  const run = await drover(lab, ['run', 'uninstall', '-l', names, '--check'])
  expectCode(run, 0)
  for (const host of all()) expect(run.host(host.name).outcome).toBe('would-change')
  expect(changesOf(run.host(ubuntu.name))).toContain(`systemctl stop ${AGENT_UNIT}`)
  expect(await Promise.all(all().map(snapshotOf))).toEqual(before)
})

test('11.16 11.23 11.24 nothing of the agent is left, and what is the host’s is the same byte for byte', async () => {
  const before = await Promise.all(all().map(keptOnUninstall))
  const run = await drover(lab, ['run', 'uninstall', '-l', names, '--confirm', '3', '--yes-remove-everything'])
  expectCode(run, 0)
  for (const [index, host] of all().entries()) {
    expect(await taken(host), host.name).toEqual([])
    expect(await traces(host), host.name).toBe('')
    expect(await keptOnUninstall(host), host.name).toEqual(before[index])
    expect(before[index]?.join('\n'), host.name).toContain('/opt/unbounded directory 750 root:root')
    const state = { moving: false, staging: false, underRoot: [], underLegacy: [], active: 'inactive' }
    expect(await rootState(host), host.name).toMatchObject({ root: host === ubuntu ? 'directory' : 'absent', ...state })
  }
  expect(await named(rhel)).toEqual([])
  expect(await named(acl)).toEqual([])
  expect(await named(ubuntu)).toEqual([`${ROOT}/lib/aks-flex-node`])
  expect(await ubuntu.must('cat $1 $2', foreign)).toBe('mine\nmine')
  for (const path of foreign) expect(run.stdout).toContain(path)
})

test('11.23 there is nothing left to do the second time, at the price of one command', async () => {
  const run = await drover(lab, ['run', 'uninstall', '-l', names, '-y', '--yes-remove-everything'])
  for (const host of all()) isUnchanged(run, host)
})

test('status says that there is no agent, after a reboot as well', async () => {
  await ubuntu.reboot()
  for (const host of all()) expect(await statusOf(lab, host.name)).toMatchObject({ verdict: 'no-agent' })
})

test('11.21 the host can have an agent again', async () => {
  const run = await install(lab, names, 'v0.4.0')
  expectCode(run, 0)
  for (const host of all()) {
    const seen = await layoutOf(host)
    expect(faultsOf({ ...seen, inWorker: 'same' }), host.name).toEqual([])
    expect(seen, host.name).toMatchObject({ version: 'v0.4.0', root: host === rhel ? '/usr/local' : ROOT })
  }
})

describe.concurrent('on another host each', () => {
  test('11.24 the link of an operator stays, with what they have where it leads', async () => {
    expectCode(await uninstall(lab, acl), 0)
    const host = await again(acl)
    await host.must(
      'systemctl stop "$1"; mv "$2" /srv/agent; ln -s /srv/agent "$2"; systemctl start "$1"; echo mine >/srv/agent/mine',
      [AGENT_UNIT, ROOT],
    )
    expectCode(await uninstall(lab, host), 0)
    expect(await rootState(host)).toMatchObject({ root: '-> /srv/agent' })
    expect(await host.must('cat /srv/agent/mine; ls -A /srv/agent/bin; ls -A /srv/agent/lib')).toBe('mine')
    expect(await named(host)).toEqual([])
    isUnchanged(await uninstall(lab, host), host)
  })

  test('M8 O-12 where an interface of yours would go nothing is touched, and where its own reset fails the binaries stay', async () => {
    expectCode(await uninstall(lab, rhel), 0)
    const host = await again(rhel, { layout: 'legacy', agent: { version: 'v0.3.1', reset: 'fails' } })
    await host.must('ip link add wg0 type bridge')
    const before = await snapshotOf(host)
    expect(blockedAs(await uninstall(lab, host), host, 'interfaces-would-go')).toContain('wg0')
    expect(await snapshotOf(host)).toEqual(before)
    await host.must('ip link delete wg0')

    const run = await uninstall(lab, host)
    expectCode(run, 2)
    expect(run.host(host.name)).toMatchObject({ outcome: 'failed', error: { code: 'reset-failed' } })
    expect((await rootState(host)).underLegacy).toContain('lib/aks-flex-node/aks-flex-node-current')
    expectCode(await uninstall(lab, host, '--without-agent-reset'), 0)
    expect(await named(host)).toEqual([])
  })
})
