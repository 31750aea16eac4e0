import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { faultsOf, layoutOf } from '../support/agent-layout.ts'
import { changesOf, drover, statusOf } from '../support/drover.ts'
import { LEGACY, ROOT, rootState } from '../support/host-root.ts'
import { everything, extras, helpersBelow, isReset, keptOnReset, missing, taken } from '../support/reset.ts'
import { again, halfMoved, plant, plantDropIn } from '../support/reset-hosts.ts'
import { install, isUnchanged, reset, said, uninstall } from '../support/reset-runs.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { expectCode } from '../support/upgrade.ts'

/**
 * Story: an agent is taken off its host, on systemd 252 and 257 and with a read-only /usr: all of domain.md 8.1 is seen and then
 * gone, all of 8.3 is seen and stays, from whatever state its root is in (11.48, 11.49; rules M1, M8, W1; O-4, O-14).
 */

let lab: Lab
let rhel: LabHost
let ubuntu: LabHost
let acl: LabHost

beforeAll(async () => {
  lab = await openLab('reset', { yes: true })
  ;[rhel, ubuntu, acl] = await Promise.all([
    lab.boot({ name: 'rhel9', image: 'rhel9-like', agent: 'new', layout: 'linked', ...extras }),
    lab.boot({ name: 'ubuntu24', image: 'ubuntu-like', agent: 'new', layout: 'moved', ...extras, worker: 'real' }),
    lab.boot({ name: 'acl3', image: 'acl-like', agent: 'new', ...extras }),
  ])
  await Promise.all(three().map(plant))
  await plantDropIn(ubuntu)
})

afterAll(() => lab?.close())

const three = (): LabHost[] => [rhel, ubuntu, acl]
const names = 'rhel9,ubuntu24,acl3'
describe('a host that has everything', () => {
  test('11.48 it is all there: what must go, path by path and unit by unit, and what must stay', async () => {
    for (const host of three()) {
      expect(await taken(host), host.name).toEqual(everything(host.agentRoot).sort())
      expect(await missing(host), host.name).toEqual([])
    }
  })

  test('is not reset without a word that it is meant, and nobody connects to it for that', async () => {
    const runs = [[], ['--confirm', '2'], ['--confirm', '4']].map(async (args) => {
      const run = await drover(lab, ['run', 'reset', '-l', names, ...args])
      expectCode(run, 5)
      expect(run.stderr).toContain('confirmation-missing')
      expect(run.events.map(({ type }) => type)).not.toContain('host-started')
    })
    await Promise.all(runs)
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
      for (const line of [
        '/opt/unbounded directory 750 root:root',
        `${host.agentRoot}/lib/aks-flex-node/aks-flex-node-blue`,
      ])
        expect(before[index]?.join('\n'), host.name).toContain(line)
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
    400_000,
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
})
