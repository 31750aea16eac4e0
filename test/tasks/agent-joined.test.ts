import { expect, test } from 'vitest'
import { layoutEntry, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentJoined } from '../../src/tasks/agent-joined.ts'
import { daemonState } from './deployed.ts'
import { paramsOf, planOn, result, stateFor } from './general/planning.ts'
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
  ['running and not joined', {}, up(), join('/usr/local')],
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
  ['the same, and the target is up already', {}, up({ paths: enabledMachine }), join('/usr/local')],
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
