import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Unknown } from '../../src/facts/unknown.ts'
import { viewOf } from '../../src/facts/view.ts'
import type { Host } from '../../src/inventory/host.ts'
import { healthReported } from '../../src/tasks/health-reported.ts'
import type { Finding } from '../../src/tasks/task.ts'
import { workerRunning } from '../../src/tasks/worker-running.ts'
import { aHost, daemonState, runningHost } from './deployed.ts'
import { paramsOf, planOn, predicted, stateFor } from './general/planning.ts'
import { type HostLiteral, hostState, type UnitLiteral } from './host-state.ts'

const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'
const kube2 = 'systemd-nspawn@kube2.service'
const wants = '/etc/systemd/system/machines.target.wants'

const machine: UnitLiteral = {
  ActiveState: 'active',
  SubState: 'running',
  MainPID: '77',
  ExecStart: '{ path=/usr/bin/systemd-nspawn ; argv[]=/usr/bin/systemd-nspawn --quiet --boot --machine=kube1 }',
}
const sleep: UnitLiteral = { ...machine, ExecStart: '{ path=/usr/bin/sleep ; argv[]=/usr/bin/sleep infinity }' }

type Answer = NonNullable<HostLiteral['commands']>[number]
const kubelet = (side: string, result: Answer[1]): Answer => [
  ['systemctl', `--machine=${side}`, 'is-active', 'kubelet.service'],
  result,
]
const says = (side: string, stdout: string, code = stdout === 'active' ? 0 : 3): Answer =>
  kubelet(side, { code, stdout: `${stdout}\n` })

/** A host with a real machine, as its kubelets answer. */
const withMachine = (answers: readonly Answer[], changes: HostLiteral = {}): HostLiteral =>
  runningHost({ ...changes, units: { [kube1]: machine, ...changes.units }, commands: answers })

const signal = (fields: object, ageS: number): HostLiteral['paths'] => ({
  '/etc/aks-flex-node/agent-upgrade-signal.json': { file: JSON.stringify(fields), modifiedS: 1_000_000 - ageS },
})
const firstBoot = { '/etc/aks-flex-node/first-boot': { dir: true } } as const
const offline = {
  '/etc/aks-flex-node/config.json': { file: '{"bootstrap":{"offlineArtifacts":{"source":"/srv/bundle"}}}' },
} as const

const findings = (literal: HostLiteral, host: Host = aHost()): readonly Finding[] => {
  const params = paramsOf(healthReported, {})
  const planned = healthReported.plan(viewOf(hostState(literal, healthReported.facts(params, host))), params, host)
  expect(planned).toMatchObject({ status: 'planned', changes: [] })
  return planned.findings ?? []
}
const checks = (literal: HostLiteral, host?: Host): string[] => findings(literal, host).map(({ check }) => check)

const rows: readonly (readonly [what: string, host: HostLiteral, checks: readonly string[]])[] = [
  ['a host on which all runs is not spoken of', withMachine([says('kube1', 'active')]), []],
  ['a kubelet that is down is', withMachine([says('kube1', 'inactive')]), ['kubelet-down']],
  ['one that failed as well', withMachine([says('kube1', 'failed')]), ['kubelet-down']],
  ['one that is starting as well', withMachine([says('kube1', 'activating')]), ['kubelet-down']],
  ['one that cannot be asked as well', withMachine([kubelet('kube1', { code: 1 })]), ['kubelet-down']],
  ['one that does not answer in time as well', withMachine([kubelet('kube1', { code: 124 })]), ['kubelet-down']],
  [
    'the kubelet of the other side is nobody’s concern',
    withMachine([says('kube1', 'active'), says('kube2', 'failed')], { units: { [kube2]: machine } }),
    [],
  ],
  [
    'with kube2 active it is its kubelet that counts',
    withMachine([says('kube1', 'active'), says('kube2', 'failed')], {
      units: { [kube2]: machine },
      paths: daemonState('kube2'),
    }),
    ['kubelet-down'],
  ],
  ['a stand-in’s process has no kubelet', withMachine([says('kube1', 'failed')], { units: { [kube1]: sleep } }), []],
  [
    'a worker that is down is another step’s concern, and its kubelet with it',
    withMachine([says('kube1', 'failed')], { units: { [kube1]: { ...machine, ActiveState: 'inactive' } } }),
    [],
  ],
  [
    'without root nobody can say whose kubelet to ask',
    withMachine([says('kube1', 'failed')], { os: { uid: 1000 } }),
    [],
  ],
  [
    'nor with a damaged state',
    withMachine([says('kube1', 'failed')], { paths: { '/etc/aks-flex-node/daemon-state.json': 'absent' } }),
    [],
  ],
  ['an agent that is stopped is told of', runningHost({ units: { [agent]: {} } }), ['agent-down']],
  [
    'an agent that failed as well',
    runningHost({ units: { [agent]: { ActiveState: 'failed', Result: 'exit-code' } } }),
    ['agent-down'],
  ],
  [
    'and one that waits for its next attempt',
    runningHost({ units: { [agent]: { ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' } } }),
    ['agent-down'],
  ],
  ['without root as well', runningHost({ os: { uid: 1000 }, units: { [agent]: {} } }), ['agent-down']],
  ['secrets of the first boot that were left', runningHost({ paths: firstBoot }), ['first-boot-secrets-left']],
  [
    'denials that name the agent',
    runningHost({ probes: { 'selinux-denials': 'source=journal\ndenials=2\nreset_failed=0\n' } }),
    ['selinux-denials'],
  ],
  ['an upgrade that is under way', runningHost({ paths: signal({ operationName: 'up' }, 60) }), []],
  [
    'an upgrade nobody will give a verdict on any more',
    runningHost({ paths: signal({ operationName: 'up' }, 1800) }),
    ['upgrade-signal-stale'],
  ],
  [
    'one that asks for a recovery',
    runningHost({ paths: signal({ recoveryRequired: true }, 60) }),
    ['recovery-required'],
  ],
  ['a config.json that disagrees with the inventory (W6)', runningHost({ paths: offline }), ['offline-disagreement']],
  [
    'all of it at once, what is down first',
    withMachine([says('kube1', 'failed')], {
      units: { [agent]: { ActiveState: 'failed', Result: 'exit-code' } },
      paths: { ...firstBoot, ...offline, ...signal({ recoveryRequired: true }, 1800) },
      probes: { 'selinux-denials': 'source=journal\ndenials=1\nreset_failed=0\n' },
    }),
    [
      'agent-down',
      'kubelet-down',
      'offline-disagreement',
      'first-boot-secrets-left',
      'selinux-denials',
      'upgrade-signal-stale',
      'recovery-required',
    ],
  ],
  ['without an agent there is nothing to report', {}, []],
  ['whatever else lies on the host', { paths: { ...firstBoot, ...offline, ...signal({}, 1800) } }, []],
]

test.each(rows)('%s', (_, host, expected) => expect(checks(host)).toEqual(expected))

test.each(rows.filter(([, , expected]) => expected.length > 0))('a warning, with what to do: %s', (_, host) => {
  for (const finding of findings(host))
    expect(finding, finding.check).toMatchObject({
      severity: 'warning',
      ignored: false,
      message: expect.stringMatching(/\S/),
      remedy: expect.stringMatching(/\S/),
    })
})

test('a host that the inventory calls offline, too, is in agreement', () => {
  expect(checks(runningHost({ paths: offline }), aHost({ offline: true }))).toEqual([])
})

describe('the words', () => {
  test.each<[what: string, host: HostLiteral, words: readonly RegExp[]]>([
    [
      'of a kubelet that is down: its state, and how to look at it',
      withMachine([says('kube1', 'inactive')]),
      [/kubelet in it is not active \(inactive\)/, /systemctl --machine=kube1 status kubelet\.service/, /a minute/],
    ],
    ['of one that cannot be asked: how that ended', withMachine([kubelet('kube1', { code: 124 })]), [/gave 124/]],
    [
      'of an agent that failed: how, and that it is not started',
      runningHost({ units: { [agent]: { ActiveState: 'failed', Result: 'exit-code' } } }),
      [/failed \(exit-code\)/, /journalctl -u aks-flex-node-agent\.service/, /starts no agent/],
    ],
    [
      'of an upgrade without a verdict: which, and for how long',
      runningHost({ paths: signal({ operationName: 'up-7' }, 1800) }),
      [/up-7/, /30 minutes/, /Never delete the file/],
    ],
  ])('%s', (_, host, words) => {
    const said = findings(host).map(({ message, remedy }) => `${message} ${remedy}`)
    expect(said).toHaveLength(1)
    for (const word of words) expect(said[0]).toMatch(word)
  })
})

test('a kubelet that nobody can know of yet is neither up nor down', () => {
  const params = paramsOf(healthReported, {})
  const host = withMachine([kubelet('kube1', new Unknown('systemctl start'))])
  expect(planOn(healthReported, params, stateFor(healthReported, params, host))).toEqual({ status: 'unknown' })
})

test('after a planned start of the worker that is so, and not what it answered while it was down', () => {
  const worker = paramsOf(workerRunning, {})
  const health = paramsOf(healthReported, {})
  const down = { ...machine, ActiveState: 'inactive', SubState: 'dead', MainPID: '0' }
  const host = withMachine([kubelet('kube1', { code: 1 })], { units: { [kube1]: down } })
  const state = hostState(host, [...workerRunning.facts(worker, aHost()), ...healthReported.facts(health, aHost())])
  const after = predicted(state, planOn(workerRunning, worker, state))
  expect(planOn(healthReported, health, after)).toEqual({ status: 'unknown' })
})

test('it says that it only looks', () => expect(healthReported.isCheck).toBe(true))

test('whatever the host is like, nothing is ever changed, blocked or failed', () => {
  const unit = fc.record({
    ActiveState: fc.constantFrom('active', 'inactive', 'failed', 'activating', 'deactivating', 'reloading'),
    LoadState: fc.constantFrom('loaded', 'masked', 'not-found'),
    Result: fc.constantFrom('success', 'exit-code', 'start-limit-hit'),
    ExecStart: fc.constantFrom(machine.ExecStart as string, sleep.ExecStart as string, ''),
  })
  const answer = fc.record({ code: fc.constantFrom(0, 1, 3, 4, 124, 127), stdout: fc.string({ maxLength: 20 }) })
  fc.assert(
    fc.property(
      fc.record({
        uid: fc.constantFrom(0, 1000),
        isInstalled: fc.boolean(),
        units: fc.record({ agent: unit, kube1: unit, kube2: unit }),
        side: fc.constantFrom('kube1', 'kube2', 'kube3'),
        kubelets: fc.tuple(answer, answer),
        signal: fc.option(fc.string(), { nil: undefined }),
        config: fc.option(fc.string(), { nil: undefined }),
        denials: fc.string({ maxLength: 40 }),
        isEnabled: fc.boolean(),
      }),
      ({ uid, isInstalled, units, side, kubelets, signal: upgrade, config, denials, isEnabled }) => {
        const host = runningHost({
          os: { uid },
          units: { [agent]: units.agent, [kube1]: units.kube1, [kube2]: units.kube2 },
          paths: {
            ...(isInstalled ? {} : { [`/etc/systemd/system/${agent}`]: 'absent' as const }),
            ...(isEnabled ? {} : { [`${wants}/${kube1}`]: 'absent' as const }),
            ...daemonState(side),
            ...(upgrade === undefined ? {} : { '/etc/aks-flex-node/agent-upgrade-signal.json': { file: upgrade } }),
            ...(config === undefined ? {} : { '/etc/aks-flex-node/config.json': { file: config } }),
          },
          commands: [kubelet('kube1', kubelets[0]), kubelet('kube2', kubelets[1])],
          probes: { 'selinux-denials': denials },
        })
        for (const { severity } of findings(host)) expect(severity).toBe('warning')
      },
    ),
  )
})
