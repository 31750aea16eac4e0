import { describe, expect, test } from 'vitest'
import { Unknown } from '../../../src/facts/unknown.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { deploymentFacts, readDeployment } from '../../../src/tasks/agent/deployment.ts'
import { movedPaths, runningHost, stuckHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

const read = (literal: HostLiteral) => readDeployment(viewOf(hostState(literal, deploymentFacts())))
const agent = 'aks-flex-node-agent.service'
const wants = '/etc/systemd/system/machines.target.wants'
const kube1 = `${wants}/systemd-nspawn@kube1.service`

test('a bare host', () => {
  const bare = read({})
  expect([bare.installed, bare.variant, bare.version, bare.service, bare.hostRoot]).toEqual([
    false,
    null,
    null,
    null,
    'ABSENT',
  ])
  expect(bare.others).toEqual([])
})

test('a legacy host', () => {
  const host = read(runningHost())
  expect([host.installed, host.variant, host.version, host.hostRoot]).toEqual([true, 'host', 'v0.2.0', 'LEGACY'])
  expect(host.daemonState).toEqual({ ok: true, activeMachine: 'kube1' })
  expect(host.worker('kube1')).toMatchObject({ enabled: true, activeState: 'active', masked: false })
  expect(host.worker('kube2')).toMatchObject({ enabled: false, activeState: 'inactive' })
})

test('the version comes from the root the state names', () => {
  const current = '/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-current'
  const moved = read(runningHost({ paths: movedPaths, versions: { [current]: 'v0.3.1' } }))
  expect([moved.hostRoot, moved.version]).toEqual(['MOVED', 'v0.3.1'])
})

test.each([
  ['Requires', 'container'],
  ['Wants', 'container'],
  ['After', 'host'],
])('W5: containerd in %s is the %s variant', (property, variant) => {
  expect(read({ units: { [agent]: { [property]: 'network-online.target containerd.service' } } }).variant).toBe(variant)
})

test.each<[string, HostLiteral['paths'], boolean]>([
  ['link in /etc', {}, true],
  [
    'link of the vendor',
    { [kube1]: 'absent', '/usr/lib/systemd/system/machines.target.wants/systemd-nspawn@kube1.service': { link: 'x' } },
    true,
  ],
  [
    'link in /run, gone at the next boot',
    { [kube1]: 'absent', '/run/systemd/system/machines.target.wants/systemd-nspawn@kube1.service': { link: 'x' } },
    false,
  ],
  ['link to /dev/null', { [kube1]: { link: '/dev/null' } }, false],
  ['no link', { [kube1]: 'absent' }, false],
])('worker enabled: %s', (_, paths, enabled) => {
  expect(read(stuckHost({ paths })).worker('kube1').enabled).toBe(enabled)
})

test('W2: other machines that the target would start, on disk and loaded', () => {
  const host = read(
    stuckHost({
      paths: {
        [`${wants}/systemd-nspawn@mine.service`]: { link: 'x' },
        [`${wants}/systemd-nspawn@kube2.service`]: { link: 'x' },
      },
      units: { 'machines.target': { Wants: 'systemd-nspawn@kube1.service stale.service' } },
    }),
  )
  expect(host.others).toEqual(['stale.service', 'systemd-nspawn@mine.service'])
})

describe('what cannot be known is null', () => {
  test('without root', () => {
    const host = read(runningHost({ os: { uid: 1000 } }))
    expect([host.daemonState, host.config, host.signal]).toEqual([null, null, null])
    expect(host.service?.activeState).toBe('active')
  })
  test('without systemd the unit file still tells an installed host', () => {
    const host = read(runningHost({ noSystemd: 'no bus' }))
    expect([host.installed, host.service, host.target, host.worker('kube1').activeState]).toEqual([
      true,
      null,
      null,
      null,
    ])
  })
})

test('a MainPID that nobody knows is not read on the way to the active side', () => {
  const unknown = new Unknown('a restart')
  const host = read(stuckHost({ units: { [agent]: { MainPID: unknown, InvocationID: unknown, exe: unknown } } }))
  expect([host.installed, host.variant, host.hostRoot, host.daemonState, host.worker('kube1').enabled]).toEqual([
    true,
    'host',
    'LEGACY',
    { ok: true, activeMachine: 'kube1' },
    true,
  ])
})

test('the upgrade signal: age by the clock of the host, nothing else kept', () => {
  const signal = { operationName: 'up-7', recoveryRequired: true, failure: 'GET https://x/?sig=SECRET' }
  const host = read({
    paths: { '/etc/aks-flex-node/agent-upgrade-signal.json': { file: JSON.stringify(signal), modifiedS: 999_000 } },
  })
  expect(host.signal).toEqual({ ageS: 1000, operation: 'up-7', recoveryRequired: true })
})
