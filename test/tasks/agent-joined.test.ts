import { expect, test } from 'vitest'
import { layoutEntry, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentJoined } from '../../src/tasks/agent-joined.ts'
import { daemonState } from './deployed.ts'
import { paramsOf, planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { installed, up } from './install/hosts.ts'

const join = (root: string) => [
  `run ${root}/bin/aks-flex-node start --config /etc/aks-flex-node/config.json`,
  'wait until test -s /etc/aks-flex-node/daemon-state.json succeeds',
  ...(root === ROOT
    ? [`wait until aks-flex-node-agent.service runs ${layoutEntry(ROOT, 'blue')} for 45 s`]
    : [
        'wait until aks-flex-node-agent.service is active for 45 s',
        'wait until test "!" -e /opt/unbounded/agent/.moving succeeds',
      ]),
]
const enabledMachine = {
  '/etc/systemd/system/machines.target.wants/systemd-nspawn@mine.service': {
    link: '/usr/lib/systemd/system/systemd-nspawn@.service',
  },
} as const
const stateFile = '/etc/aks-flex-node/daemon-state.json'

const rows: readonly [what: string, input: object, literal: HostLiteral, result: unknown][] = [
  ['installed and not joined', {}, installed(), join('/usr/local')],
  ['the same under the new root', {}, installed({}, ROOT), join(ROOT)],
  ['running, and its state is gone', {}, up(), { blocked: 'state-unreadable' }],
  [
    'stopped, with a worker that runs',
    {},
    installed({ units: { 'systemd-nspawn@kube2.service': { ActiveState: 'active' } } }),
    { blocked: 'state-unreadable' },
  ],
  [
    'stopped, with a worker that starts',
    {},
    installed({ units: { 'systemd-nspawn@kube1.service': { ActiveState: 'activating' } } }),
    { blocked: 'state-unreadable' },
  ],
  [
    'stopped, with the files of a worker',
    {},
    installed({ paths: { '/var/lib/machines/kube1/etc': { dir: true } } }),
    { blocked: 'state-unreadable' },
  ],
  [
    'a place for a worker, and none in it',
    {},
    installed({ paths: { '/var/lib/machines/kube1': { dir: [] } } }),
    join('/usr/local'),
  ],
  [
    'a first boot under way',
    {},
    installed({ units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } }),
    { blocked: 'precondition-unmet' },
  ],
  ['joined', {}, up({ paths: daemonState('kube1') }), []],
  ['not wanted', { join: false }, installed(), []],
  ['not wanted, and no agent', { join: false }, {}, []],
  ['no agent', {}, {}, { blocked: 'agent-missing' }],
  [
    'a state without its checksum',
    {},
    up({ paths: { [stateFile]: daemonState('kube1')[stateFile] ?? 'absent' } }),
    { blocked: 'state-unreadable' },
  ],
  ['the lock held', {}, installed({ probes: { 'activation-lock': 'lock=held\n' } }), { blocked: 'activation-locked' }],
  [
    'a machine of an operator would start along',
    {},
    installed({ paths: enabledMachine }),
    { blocked: 'would-start-others' },
  ],
  ['the same, allowed', { allow_start: ['mine'] }, installed({ paths: enabledMachine }), join('/usr/local')],
  [
    'the same, and the target is up already',
    {},
    installed({ paths: enabledMachine, units: { 'machines.target': { ActiveState: 'active' } } }),
    join('/usr/local'),
  ],
  ['both roots hold an agent', {}, installed({ paths: { [ROOT]: { dir: true } } }), { blocked: 'move-unfinished' }],
]
test.each(rows)('%s', (_, input, literal, expected) => {
  expect(result(agentJoined, input as never, literal)).toEqual(expected)
})

test('what it writes, starts and stops is known of nobody afterwards', () => {
  const params = paramsOf(agentJoined, { timeout_s: 100 })
  const plan = planOn(agentJoined, params, stateFor(agentJoined, params, installed()))
  expect(plan).toMatchObject({
    changes: expect.arrayContaining([
      expect.objectContaining({
        timeoutMs: 100_000,
        spoils: expect.arrayContaining([
          'path:/etc/aks-flex-node',
          'path:/opt/unbounded',
          'path:/var/lib/machines',
          'path:/etc/systemd/system',
          'unit:systemd-nspawn@kube1.service',
          'unit:systemd-nspawn@kube2.service',
          'unit:machines.target',
          'port:10250',
        ]),
      }),
    ]),
  })
})

test('what looks like a join is named, and how to go on', () => {
  const literal = installed({ paths: { '/var/lib/machines/kube1/etc': { dir: true } } })
  expect(refusal(agentJoined, {}, literal)).toMatch(/\/var\/lib\/machines\/kube1 is not empty.*aks-flex-node reset/)
})
