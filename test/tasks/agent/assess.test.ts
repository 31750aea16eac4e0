import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { assess, statusFacts } from '../../../src/tasks/agent/assess.ts'
import { dropInFile } from '../../../src/tasks/agent/paths.ts'
import { machinesTargetDropIn } from '../../../src/tasks/units/machines-target-drop-in.ts'
import { aHost, enabledTarget, runningHost, stuckHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

const host = aHost()
const status = (literal: HostLiteral) => assess(viewOf(hostState(literal, statusFacts(host))), host)
const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'

const wiredAgent = { ActiveState: 'active', UnitFileState: 'enabled', Wants: 'machines.target' }
const dropIn = { [dropInFile]: { file: machinesTargetDropIn.content } }

test.each<[string, string | null, HostLiteral]>([
  ['no-agent', null, {}],
  ['no-systemd', null, runningHost({ noSystemd: 'Failed to connect to bus' })],
  ['not-wired', 'machines-target', runningHost()],
  ['healthy', null, runningHost({ paths: enabledTarget })],
  ['healthy', null, runningHost({ units: { [agent]: wiredAgent }, paths: dropIn })],
  ['not-wired', 'machines-target', runningHost({ units: { [agent]: wiredAgent } })],
  ['not-wired', 'machines-target', runningHost({ paths: dropIn })],
  ['stuck', 'remediate', stuckHost()],
  ['stuck', 'remediate', stuckHost({ units: { [kube1]: { ActiveState: 'activating', SubState: 'auto-restart' } } })],
  ['worker-starting', null, stuckHost({ units: { [kube1]: { ActiveState: 'activating', SubState: 'start' } } })],
  ['stuck', 'remediate', stuckHost({ units: { 'machines.target': { ActiveState: 'active' } } })],
  [
    'target-masked',
    null,
    stuckHost({ units: { 'machines.target': { LoadState: 'masked', UnitFileState: 'masked' } } }),
  ],
  ['target-missing', null, stuckHost({ units: { 'machines.target': { LoadState: 'not-found' } } })],
  ['state-unreadable', null, stuckHost({ paths: { '/etc/aks-flex-node/daemon-state.json.sha256': 'absent' } })],
  ['state-unreadable', null, runningHost({ os: { uid: 1000 } })],
  ['containerd-failed', null, runningHost({ units: { [agent]: { Requires: 'containerd.service' } } })],
  ['agent-failed', null, runningHost({ units: { [agent]: { ActiveState: 'failed', Result: 'start-limit-hit' } } })],
  ['agent-down', null, runningHost({ units: { [agent]: {} } })],
  ['worker-stopped', null, stuckHost({ paths: { [`/etc/systemd/system/machines.target.wants/${kube1}`]: 'absent' } })],
  ['locked', null, stuckHost({ self: { lease: { run: 'r1', owner: 'eva@desk', since: 'now', ageS: 3 } } })],
  ['unconfirmed', null, runningHost({ paths: enabledTarget, self: { rollback: { phase: 'armed', text: 'r1' } } })],
])('%s, fix %s', (verdict, fix, literal) => {
  const seen = status(literal)
  expect(seen).toMatchObject({ verdict, fix })
  expect(seen.explanation).toMatch(/\S/)
})

test('a move that does not end', () => {
  const moving = {
    '/opt/unbounded/agent/.moving': { file: '', modifiedS: 999_700 },
    '/opt/unbounded/agent/bin/aks-flex-node': { file: 'ELF' },
  }
  expect(status(runningHost({ paths: moving }))).toMatchObject({ hostRoot: 'MOVING-1', verdict: 'move-stuck' })
})

test('the whole of a stuck host', () => {
  expect(status(stuckHost())).toMatchObject({
    host: 'node-1',
    os: 'rocky 9.8',
    systemdVersion: 252,
    agent: { installed: true, variant: 'host', version: 'v0.2.0', state: 'active', enabled: true },
    hostRoot: 'LEGACY',
    target: { state: 'inactive', fileState: 'disabled', enabled: false },
    worker: { machine: 'kube1', unit: kube1, state: 'inactive', enabled: true },
    explanation: 'systemd-nspawn@kube1.service is enabled and inactive; machines.target is inactive',
  })
})

test('without root what root alone may read is null, and the rest is right', () => {
  const seen = status(runningHost({ os: { uid: 1000 } }))
  expect(seen).toMatchObject({
    worker: { machine: 'kube1', state: 'active', isAssumed: true },
    stateError: null,
    linked: null,
    agent: { state: 'active', version: 'v0.2.0' },
  })
})

test('a linked host says why it has not moved', () => {
  const linked = { '/opt/unbounded/agent': { link: '/usr/local' } }
  expect(status(runningHost({ paths: linked }))).toMatchObject({ hostRoot: 'LINKED', linked: 'waiting-for-release' })
})
