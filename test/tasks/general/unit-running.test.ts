import { expect, test } from 'vitest'
import { unitRunning } from '../../../src/tasks/general/unit-running.ts'
import type { HostLiteral, UnitLiteral } from '../host-state.ts'
import { faultsOf, paramsOf, planOn, type Result, refusal, result, stateFor } from './planning.ts'

const unit = 'chronyd.service'
const started = ['systemctl start chronyd.service', 'wait until chronyd.service is active']
const stopped = ['systemctl stop chronyd.service']

test.each<[what: string, params: Record<string, boolean | number>, unit: UnitLiteral, result: Result]>([
  ['a stopped unit is started', {}, {}, started],
  ['a failed one as well', {}, { ActiveState: 'failed', Result: 'exit-code' }, started],
  ['one that waits for its next restart as well', {}, { ActiveState: 'activating', SubState: 'auto-restart' }, started],
  ['one that runs is left alone', { stable_s: 5 }, { ActiveState: 'active' }, []],
  ['so is one that reloads', {}, { ActiveState: 'reloading' }, []],
  [
    'after a start it must stay up',
    { stable_s: 5 },
    {},
    ['systemctl start chronyd.service', 'wait until chronyd.service is active for 5 s'],
  ],
  [
    'the start limit is lifted',
    {},
    { ActiveState: 'failed', Result: 'start-limit-hit' },
    ['systemctl reset-failed chronyd.service', ...started],
  ],
  ['a masked unit blocks', {}, { LoadState: 'masked' }, { blocked: 'precondition-unmet' }],
  ['a masked unit that runs still is right', {}, { LoadState: 'masked', ActiveState: 'active' }, []],
  ['an unknown one blocks', {}, { LoadState: 'not-found' }, { blocked: 'precondition-unmet' }],
  ['a broken one blocks', {}, { LoadState: 'bad-setting' }, { blocked: 'precondition-unmet' }],
  ['a running unit is stopped', { running: false }, { ActiveState: 'active' }, stopped],
  ['one that is starting, too', { running: false }, { ActiveState: 'activating' }, stopped],
  ['a stopped one is left alone', { running: false }, {}, []],
  ['a failed one does not run', { running: false }, { ActiveState: 'failed' }, []],
  ['nor does one that systemd does not know', { running: false }, { LoadState: 'not-found' }, []],
  [
    'a deleted unit may run all the same',
    { running: false },
    { LoadState: 'not-found', ActiveState: 'active' },
    stopped,
  ],
])('%s', (_, params, literal, expected) => {
  expect(result(unitRunning, { unit, ...params }, { units: { [unit]: literal } })).toEqual(expected)
})

test('the host waits within_s for it, and stable_s on top', () => {
  const params = paramsOf(unitRunning, { unit, stable_s: 5, within_s: 10 })
  expect(planOn(unitRunning, params, stateFor(unitRunning, params, { units: { [unit]: {} } }))).toMatchObject({
    changes: [{}, { kind: 'await', withinMs: 15_000, stableMs: 5000 }],
  })
})

test("systemd's own words are shown for a unit it cannot use", () => {
  const host = {
    units: {
      [unit]: {
        LoadState: 'bad-setting',
        LoadError: 'org.freedesktop.systemd1.BadUnitSetting "Unit has no ExecStart"',
      },
    },
  }
  expect(refusal(unitRunning, { unit }, host)).toMatch(/it is bad-setting \(Unit has no ExecStart\)/)
})

test('a oneshot that does not stay active is told what it lacks', () => {
  const params = paramsOf(unitRunning, { unit })
  const planned = planOn(unitRunning, params, stateFor(unitRunning, params, { units: { [unit]: { Type: 'oneshot' } } }))
  expect(planned).toMatchObject({ changes: [{}, { failure: { remedy: expect.stringContaining('RemainAfterExit') } }] })
})

const agent = 'aks-flex-node-agent.service'
const members = (...names: string[]): HostLiteral['paths'] => ({
  '/etc/systemd/system/machines.target.wants': { dir: names },
})

test.each<[what: string, host: HostLiteral, result: Result]>([
  [
    'a unit that wants machines.target does not start machines along',
    { paths: members('systemd-nspawn@kube1.service') },
    { blocked: 'would-start-others' },
  ],
  ['of whatever name', { paths: members('systemd-nspawn@build.service') }, { blocked: 'would-start-others' }],
  [
    'those that run are not started',
    {
      paths: members('systemd-nspawn@kube1.service'),
      units: { 'systemd-nspawn@kube1.service': { ActiveState: 'active' } },
    },
    [`systemctl start ${agent}`, `wait until ${agent} is active`],
  ],
  [
    'a target that is up starts nothing',
    { paths: members('systemd-nspawn@kube1.service'), units: { 'machines.target': { ActiveState: 'active' } } },
    [`systemctl start ${agent}`, `wait until ${agent} is active`],
  ],
  [
    'without machines there is nothing to fear',
    { paths: members('var-lib-machines.mount') },
    [`systemctl start ${agent}`, `wait until ${agent} is active`],
  ],
])('%s', (_, host, expected) => {
  const units = { 'machines.target': {}, ...host.units, [agent]: { Wants: 'network-online.target machines.target' } }
  expect(result(unitRunning, { unit: agent }, { ...host, units })).toEqual(expected)
})

test.each([
  ['machines.target', true, /starts every machine/],
  ['machines.target', false, /ends every worker/],
  ['systemd-nspawn@kube2.service', true, /active side/],
  ['drover-apply.service', false, /own tools/],
  ['chronyd', true, /no name of a unit/],
  ['getty@.service', true, /no name of a unit/],
  ['--now.service', true, /no name of a unit/],
])('%s (running: %s) is refused before any host is touched', (name, running, fault) => {
  expect(faultsOf(unitRunning as never, { unit: name, running }).join('\n')).toMatch(fault)
})

test('a worker may be stopped by name', () => {
  expect(faultsOf(unitRunning as never, { unit: 'systemd-nspawn@kube2.service', running: false })).toEqual([])
})
