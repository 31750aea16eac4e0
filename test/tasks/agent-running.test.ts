import { expect, test } from 'vitest'
import { LEGACY, layoutEntry, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentRunning } from '../../src/tasks/agent-running.ts'
import { daemonState, linksOn } from './deployed.ts'
import { paramsOf, planOn, result, stateFor } from './general/planning.ts'
import type { HostLiteral, UnitLiteral } from './host-state.ts'
import { installed, up } from './install/hosts.ts'

const agent = 'aks-flex-node-agent.service'
const wait = `wait until ${agent} is active for 45 s`
const moved = 'wait until test "!" -e /opt/unbounded/agent/.moving succeeds'
const start = `systemctl start ${agent}`
const enable = `systemctl enable ${agent}`
const link = `/etc/systemd/system/multi-user.target.wants/${agent}`

const unit = (literal: HostLiteral, more: UnitLiteral): HostLiteral => ({
  ...literal,
  units: { ...literal.units, [agent]: { ...literal.units?.[agent], ...more } },
})
const joined = (more: HostLiteral['paths'] = {}) => up({ paths: { ...daemonState('kube1'), ...more } })

const rows: readonly [what: string, literal: HostLiteral, result: unknown][] = [
  ['up', up(), []],
  ['up and reloading', unit(up(), { ActiveState: 'reloading' }), []],
  ['up, and no boot would start it', up({ paths: { [link]: 'absent' } }), [enable]],
  ['never started', installed(), [enable, start, wait, moved]],
  [
    'never started, under the new root',
    installed({}, ROOT),
    [enable, start, `wait until ${agent} runs ${layoutEntry(ROOT, 'blue')} for 45 s`],
  ],
  ['enabled and not joined, as a cut leaves it', unit(up(), { ActiveState: 'inactive' }), [start, wait, moved]],
  [
    'joined and neither running nor enabled, as a person leaves it and a join that was cut',
    unit(joined({ [link]: 'absent' }), { ActiveState: 'inactive' }),
    { blocked: 'precondition-unmet' },
  ],
  [
    'joined, failed and disabled',
    unit(joined({ [link]: 'absent' }), { ActiveState: 'failed' }),
    [enable, start, wait, moved],
  ],
  [
    'a first boot under way',
    installed({ units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } }),
    { blocked: 'precondition-unmet' },
  ],
  ['joined and stopped by somebody', unit(joined(), { ActiveState: 'inactive' }), []],
  ['joined and failed', unit(joined(), { ActiveState: 'failed', Result: 'exit-code' }), [start, wait, moved]],
  [
    'failed by its start limit',
    unit(joined(), { ActiveState: 'failed', Result: 'start-limit-hit' }),
    [`systemctl reset-failed ${agent}`, start, wait, moved],
  ],
  [
    'four starts in its window',
    unit(installed(), { starts: 4 }),
    [enable, `systemctl reset-failed ${agent}`, start, wait, moved],
  ],
  ['up with another binary', unit(up(), { exe: layoutEntry(LEGACY, 'green') }), { blocked: 'agent-unhealthy' }],
  ['no agent', {}, { blocked: 'agent-missing' }],
  ['the lock held', installed({ probes: { 'activation-lock': 'lock=held\n' } }), { blocked: 'activation-locked' }],
  ['up with the lock held', up({ probes: { 'activation-lock': 'lock=held\n' } }), []],
  [
    'upgraded since',
    linksOn('MOVED', 'green', 'blue', { paths: { [link]: { link: `/etc/systemd/system/${agent}` } } }),
    [],
  ],
  ['a move under way', up({ paths: { [`${ROOT}/.moving`]: { file: '' } } }), { blocked: 'move-unfinished' }],
  [
    'a worker of an operator would start along',
    installed({ paths: { '/etc/systemd/system/machines.target.wants/systemd-nspawn@mine.service': { link: '/x' } } }),
    { blocked: 'would-start-others' },
  ],
  [
    'a worker that runs, which must not notice',
    installed({ units: { 'systemd-nspawn@kube1.service': { ActiveState: 'active', MainPID: '77' } } }),
    [enable, start, wait, moved, 'wait until systemd-nspawn@kube1.service is seen to be untouched'],
  ],
]
test.each(rows)('%s', (_, literal, expected) => {
  expect(result(agentRunning, {}, literal)).toEqual(expected)
})

test('an agent that was stopped on purpose is told of', () => {
  const params = paramsOf(agentRunning, {})
  const state = stateFor(agentRunning, params, unit(joined(), { ActiveState: 'inactive' }))
  expect(planOn(agentRunning, params, state)).toMatchObject({
    findings: [{ check: 'agent-stopped', severity: 'warning' }],
  })
})
