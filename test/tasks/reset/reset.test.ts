import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/changes/describe.ts'
import { hostRoots, LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import type { HostLiteral } from '../host-state.ts'
import { silent } from '../move/moving.ts'
import { hosts, network, resetStates } from './hosts.ts'
import { belongingsOn, expectGone, expectKept, runReset } from './looks.ts'
import { carryOut, hostFor, isOwnReset, isThere } from './simulated.ts'

const unusable = (host: HostLiteral): HostLiteral =>
  silent(
    host,
    ...hostRoots.flatMap((root) => [`${root}/bin/aks-flex-node`, `${root}/lib/aks-flex-node/aks-flex-node-current`]),
  )
describe.each(resetStates)('11.48, 11.49 a host that is %s', (name) => {
  test.each([
    ['by its own reset', {}, 1],
    ['without it', { agent_reset: false }, 0],
  ] as const)(
    'is reset %s, in both roots; the layout stays, and a second reset plans nothing',
    (_, vars, ownResets) => {
      const play = shippedPlay('reset', vars)
      const before = hostFor(play, hosts[name]())
      expect(belongingsOn(before).length).toBeGreaterThan(15)
      const end = carryOut(play, before)
      expect(end.error).toBeUndefined()
      expect(end.changes.filter(isOwnReset)).toHaveLength(ownResets)
      expectGone(end.state)
      expectKept(before, end.state, name)
      expect(end.findings).toContainEqual(expect.objectContaining({ check: 'kept', severity: 'ok' }))
      expect(carryOut(play, end.state)).toMatchObject({ changes: [], looks: [0] })
    },
  )
})

test('8.1 the first-boot unit goes first of all, stopped and disabled before its file', () => {
  const { changes } = runReset(hosts.MOVED())
  const unit = 'aks-flex-node-bootstrap.service'
  expect(changes.slice(0, 4).map(summaryOf)).toEqual([
    `systemctl stop ${unit}`,
    `systemctl disable ${unit}`,
    `remove /etc/systemd/system/${unit}`,
    'systemctl daemon-reload',
  ])
})

test('O-4 the own reset is planned on a look at the stopped host, and looks at the root under the lock', () => {
  const play = shippedPlay('reset', {})
  const { changes } = carryOut(play, hostFor(play, hosts['MOVING-1']()))
  const at = changes.findIndex(isOwnReset)
  const stop = changes.findIndex((change) => summaryOf(change) === 'systemctl stop aks-flex-node-agent.service')
  expect(stop).toBeGreaterThan(-1)
  expect(stop).toBeLessThan(at)
  expect(changes.slice(at - 2, at).map(({ kind }) => kind)).toEqual(['hold', 'release'])
  for (const change of changes.slice(at - 1, at + 1)) {
    expect(change.relies).toEqual([
      { unit: 'aks-flex-node-agent.service', property: 'ActiveState', value: 'inactive' },
      { path: ROOT, is: 'directory' },
      { path: `${ROOT}/.moving`, is: 'file' },
      { path: `${ROOT}.staging`, is: 'absent' },
    ])
  }
})

test('O-4 between the stop of the agent and all that follows the host is looked at', () => {
  const { changes, looks } = runReset(hosts.MOVED())
  const stop = changes.findIndex((change) => summaryOf(change) === 'systemctl stop aks-flex-node-agent.service')
  const hold = changes.findIndex(({ kind }) => kind === 'hold')
  expect(looks).toContain(hold)
  expect(stop).toBeLessThan(hold)
})

test('on a linked host each file is removed once, by its place', () => {
  const removed = runReset(hosts.LINKED(), { agent_reset: false }).changes.flatMap((change) =>
    change.kind === 'remove' ? [change.path] : [],
  )
  expect(removed).toContain(`${LEGACY}/bin/unbounded-agent-nspawn-lifecycle`)
  expect(removed.filter((path) => path.startsWith(ROOT))).toEqual([])
})

test('O-4 restarts that the agent has queued are stopped before the agent is', () => {
  const summaries = runReset(hosts.LINKED()).changes.map(summaryOf)
  const queued = summaries.indexOf('run systemctl stop "aks-flex-node-agent-upgrade-restart-*.timer"')
  expect(queued).toBeGreaterThan(-1)
  expect(summaries[queued + 1]).toBe('systemctl stop aks-flex-node-agent.service')
})

test('O-4 they are stopped where the agent is down for a moment, too, and not a second time', () => {
  const down = hosts.LINKED({ units: { 'aks-flex-node-agent.service': { ActiveState: 'inactive' } } })
  const end = runReset(down, { agent_reset: false })
  const stopped = 'run systemctl stop "aks-flex-node-agent-upgrade-restart-*.timer"'
  expect(end.changes.map(summaryOf)).toContain(stopped)
  expect(carryOut(shippedPlay('reset', { agent_reset: false }), end.state).changes).toEqual([])
})

test('O-4 what an own reset that resolved another root leaves is swept', () => {
  const end = runReset(hosts.MOVED(), {}, { own: 'forgets the host root' })
  expect(end.error).toBeUndefined()
  expect(end.changes.map(summaryOf)).toContain(`remove ${ROOT}/bin/unbounded-agent-nspawn-lifecycle`)
  expectGone(end.state)
})

test('M8 an own reset that fails says what goes on without it, and that does', () => {
  const play = shippedPlay('reset', {})
  const end = carryOut(play, hostFor(play, hosts.MOVED()), { own: 'fails half way' })
  expect(end.error).toMatch(/reset-failed.*agent_reset=false/)
  const swept = carryOut(shippedPlay('reset', { agent_reset: false }), end.state)
  expect(swept.error).toBeUndefined()
  expectGone(swept.state)
})

test.each(['MOVED', 'LEGACY', 'CONFLICT'] as const)(
  'M8 without a usable binary only what is known by name goes, and a finding says so: %s',
  (name) => {
    const end = runReset(unusable(hosts[name]()))
    expect(end.error).toBeUndefined()
    expect(end.changes.some(isOwnReset)).toBe(false)
    expect(end.findings).toContainEqual(expect.objectContaining({ check: 'agent-reset-not-run', severity: 'warning' }))
    expectGone(end.state)
  },
)

test('M8 other interfaces and rules are listed and stay', () => {
  const left = `${network}interface=geneve0\ninterface=wg0\nrule=100: from all lookup 100\n`
  const end = runReset(hosts.MOVED({ probes: { 'network-left': left } }), { agent_reset: false })
  expect(end.error).toBeUndefined()
  expect(end.findings).toContainEqual(expect.objectContaining({ check: 'interface-left', target: 'geneve0' }))
  expect(end.findings).toContainEqual(expect.objectContaining({ check: 'interface-left', target: 'wg0' }))
  expect(end.findings).toContainEqual(expect.objectContaining({ check: 'rules-left', severity: 'ok' }))
  expect(end.changes.map(summaryOf).filter((summary) => summary.includes('ip link'))).toEqual([
    'run /usr/sbin/ip link delete localdns',
  ])
})

test('11.49 on a read-only /usr nothing is planned for what is not there', () => {
  const mounts = Object.fromEntries(
    ['/bin', '/lib/aks-flex-node', '/libexec'].map((below) => [
      `${LEGACY}${below}`,
      { readOnly: true, mountPoint: '/usr' },
    ]),
  )
  const end = runReset(hosts.MOVED({ mounts, os: { family: 'acl' } }), { agent_reset: false })
  expect(end.error).toBeUndefined()
  expect(end.changes.map(summaryOf).filter((summary) => summary.includes(LEGACY))).toEqual([])
  expectGone(end.state)
})

test('a helper on a read-only file system is said, and nothing of the sweep is begun', () => {
  const mounts = { [`${LEGACY}/bin`]: { readOnly: true, mountPoint: '/usr' } }
  const end = runReset(hosts.LEGACY({ mounts }), { agent_reset: false })
  expect(end.error).toMatch(/precondition-unmet.*read-only/)
  expect(isThere(end.state, '/etc/aks-flex-node')).toBe(true)
})

const routes = '/etc/systemd/system/static-routes.service'
const withRoutes = {
  paths: { [routes]: { file: '[Service]\n' } },
  units: { 'static-routes.service': { UnitFileState: 'enabled' } },
}

test('O-14 host routes are kept and told of; with consent they go, and no machine is stopped for them', () => {
  const kept = runReset(hosts.MOVED(withRoutes))
  expect(isThere(kept.state, routes)).toBe(true)
  expect(kept.findings).toContainEqual(
    expect.objectContaining({ check: 'host-routes-left', remedy: expect.stringContaining('remove_host_routes=true') }),
  )
  const gone = runReset(hosts.MOVED(withRoutes), { remove_host_routes: true })
  expect(gone.error).toBeUndefined()
  expect(isThere(gone.state, routes)).toBe(false)
  const summaries = gone.changes.map(summaryOf)
  expect(summaries).toContain('systemctl disable static-routes.service')
  expect(summaries).not.toContain('systemctl stop static-routes.service')
})

test("W1 drover's drop-in goes, and one of an operator beside it stays", () => {
  const directory = '/etc/systemd/system/aks-flex-node-agent.service.d'
  const end = runReset(hosts.MOVED({ paths: { [`${directory}/proxy.conf`]: { file: '[Service]\n' } } }))
  expect(isThere(end.state, `${directory}/50-drover-machines-target.conf`)).toBe(false)
  expect(isThere(end.state, `${directory}/proxy.conf`)).toBe(true)
})

test('a mask of an operator is no file of the agent', () => {
  const path = '/etc/systemd/system/unbounded-localdns-network.service'
  const end = runReset(hosts.MOVED({ paths: { [path]: { link: '/dev/null' } } }), { agent_reset: false })
  expect(isThere(end.state, path)).toBe(true)
})

test.each([
  ['CONFLICT', 'uninstall'],
  ['MOVING-1', 'uninstall'],
  ['MOVING-2', 'uninstall'],
  ['STAGING', 'unlink'],
  ['SWAP-GAP', 'unlink'],
] as const)('a kept layout that nothing can be installed onto is told of, with the way out: %s', (name, playbook) => {
  expect(runReset(hosts[name]()).findings).toContainEqual(
    expect.objectContaining({
      check: 'layout-unsettled',
      remedy: expect.stringContaining(`drover run ${playbook}`),
    }),
  )
})

test('a rollback that is armed holds a reset back', () => {
  const self = { rollback: { phase: 'armed', text: 'r0 ada@desk 2026 200 abc upgrade to v2' } } as const
  expect(runReset(hosts.MOVED({ self }))).toMatchObject({
    changes: [],
    error: expect.stringMatching(/^rollback-armed/),
  })
})
