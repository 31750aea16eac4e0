import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectationsOf } from '../../src/changes/expect.ts'
import type { Value } from '../../src/playbook/value.ts'
import { workerRunning } from '../../src/tasks/worker-running.ts'
import { daemonState, runningHost, stuckHost } from './deployed.ts'
import { paramsOf, planOn, predicted, type Result, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from './host-state.ts'

const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'
const kube2 = 'systemd-nspawn@kube2.service'
const wants = '/etc/systemd/system/machines.target.wants'
const stateFile = '/etc/aks-flex-node/daemon-state.json'
const template = { link: '/usr/lib/systemd/system/systemd-nspawn@.service' } as const

const runs: UnitLiteral = { ActiveState: 'active', SubState: 'running', MainPID: '77' }
const nspawn: UnitLiteral = {
  ExecStart: '{ path=/usr/bin/systemd-nspawn ; argv[]=/usr/bin/systemd-nspawn --quiet --boot --machine=kube1 }',
}
const sleep: UnitLiteral = { ExecStart: '{ path=/usr/bin/sleep ; argv[]=/usr/bin/sleep infinity }' }
const limitHit: UnitLiteral = {
  ActiveState: 'failed',
  Result: 'start-limit-hit',
  StartLimitBurst: '5',
  StartLimitIntervalUSec: '10s',
}
const container: UnitLiteral = { UnitFileState: 'enabled', Requires: 'containerd.service' }
const disabled: Record<string, PathLiteral> = { [`${wants}/${kube1}`]: 'absent' }

/** The worker of the active side is enabled and down, target and agent are up. */
const dead = (worker: UnitLiteral, changes: HostLiteral = {}): HostLiteral =>
  runningHost({ ...changes, units: { [kube1]: worker, [kube2]: {}, ...changes.units } })

const starts = (unit: string, ...more: readonly string[]): readonly string[] => [
  `systemctl start ${unit}`,
  `wait until ${unit} is active for 15 s`,
  ...more,
]

type Params = { readonly [key: string]: Value }

const planned = (host: HostLiteral, params: Params = {}) => {
  const wanted = paramsOf(workerRunning, params)
  const state = stateFor(workerRunning, wanted, host)
  const plan = planOn(workerRunning, wanted, state)
  if (plan.status !== 'planned') throw new Error(JSON.stringify(plan))
  return { state, plan, changes: plan.changes, findings: plan.findings ?? [] }
}

const rows: readonly (readonly [what: string, host: HostLiteral, result: Result])[] = [
  ['an enabled worker that is down is started and must stay up', dead({}), starts(kube1)],
  ['with the target down as well it is the worker alone that is started (W3)', stuckHost(), starts(kube1)],
  ['one that failed is started', dead({ ActiveState: 'failed', Result: 'exit-code' }), starts(kube1)],
  [
    'one that waits for its next attempt is started',
    dead({ ActiveState: 'activating', SubState: 'auto-restart' }),
    starts(kube1),
  ],
  [
    'one that is on its way is waited for as well',
    dead({ ActiveState: 'activating', SubState: 'start' }),
    starts(kube1),
  ],
  [
    'a real machine must be running to machinectl, too',
    dead(nspawn),
    starts(kube1, 'wait until machine kube1 is running'),
  ],
  ['a stand-in’s process is no machine', dead(sleep), starts(kube1)],
  ['one that runs is left alone', dead(runs), []],
  [
    'with kube2 active it is kube2 that is started',
    dead({}, { paths: { ...daemonState('kube2'), [`${wants}/${kube2}`]: template } }),
    starts(kube2),
  ],
  [
    'with kube2 active and up, a kube1 that is enabled and down is none of its business',
    dead({}, { units: { [kube2]: runs }, paths: { ...daemonState('kube2'), [`${wants}/${kube2}`]: template } }),
    [],
  ],
  [
    'with kube2 active and disabled, an enabled kube1 does not take its place',
    dead({}, { paths: daemonState('kube2') }),
    [],
  ],
  [
    'enabled by a link of the vendor it is wanted as well',
    dead({}, { paths: { ...disabled, [`/usr/lib/systemd/system/machines.target.wants/${kube1}`]: template } }),
    starts(kube1),
  ],
  ['disabled and stopped it stays stopped (W4)', dead({}, { paths: disabled }), []],
  ['disabled and running it is left running', dead(runs, { paths: disabled }), []],
  [
    'enabled for this boot only it was not to be there at the next',
    dead({}, { paths: { ...disabled, [`/run/systemd/system/machines.target.wants/${kube1}`]: template } }),
    [],
  ],
  [
    'systemd’s cached word for the enablement does not count',
    dead({ UnitFileState: 'enabled' }, { paths: disabled }),
    [],
  ],
  ['a link to /dev/null is no enablement', dead({}, { paths: { [`${wants}/${kube1}`]: { link: '/dev/null' } } }), []],
  ['a masked worker blocks', dead({ LoadState: 'masked' }), { blocked: 'precondition-unmet' }],
  ['one masked while it runs is right', dead({ ...runs, LoadState: 'masked' }), []],
  ['a start limit that was hit is lifted', dead(limitHit), [`systemctl reset-failed ${kube1}`, ...starts(kube1)]],
  [
    'where that is denied (#385) it is waited for',
    dead(limitHit, { os: { family: 'acl' } }),
    [`wait until ${kube1} has room for a start`, ...starts(kube1)],
  ],
  [
    'an agent that is down keeps no worker down',
    dead({}, { units: { [agent]: { ActiveState: 'failed' } } }),
    starts(kube1),
  ],
  [
    'a containerd that failed is the cause, and is named instead (W5)',
    dead({}, { units: { [agent]: container, 'containerd.service': { ActiveState: 'failed' } } }),
    { blocked: 'dependency-failed' },
  ],
  [
    'although the worker runs: the agent does not',
    dead(runs, { units: { [agent]: container, 'containerd.service': { ActiveState: 'failed' } } }),
    { blocked: 'dependency-failed' },
  ],
  [
    'one that is only wanted and down alike',
    dead({}, { units: { [agent]: { Wants: 'containerd.service' }, 'containerd.service': {} } }),
    { blocked: 'dependency-failed' },
  ],
  ['one that is not there alike', dead({}, { units: { [agent]: container } }), { blocked: 'dependency-failed' }],
  [
    'beside a containerd that runs the worker is started',
    dead({}, { units: { [agent]: container, 'containerd.service': runs } }),
    starts(kube1),
  ],
  [
    'a containerd that failed under an agent that runs is no cause',
    dead({}, { units: { [agent]: { ...container, ...runs }, 'containerd.service': { ActiveState: 'failed' } } }),
    starts(kube1),
  ],
  [
    'nor is one that the agent does not need',
    dead({}, { units: { [agent]: {}, 'containerd.service': { ActiveState: 'failed' } } }),
    starts(kube1),
  ],
  ['no agent is installed', {}, { blocked: 'agent-missing' }],
  [
    'without root it cannot be said which side is active',
    dead({}, { os: { uid: 1000 } }),
    { blocked: 'inspect-failed' },
  ],
]

test.each(rows)('%s', (_, host, expected) => expect(result(workerRunning, {}, host)).toEqual(expected))

test.each(rows.filter(([, , expected]) => Array.isArray(expected)))(
  'carried out, nothing is left to do: %s',
  (_, host) => {
    const { state, plan } = planned(host)
    const wanted = paramsOf(workerRunning, {})
    expect(planOn(workerRunning, wanted, predicted(state, plan))).toMatchObject({ status: 'planned', changes: [] })
  },
)

describe('which side is active is never guessed (O-15)', () => {
  const checksum = `${stateFile}.sha256`
  const text = (content: string): Record<string, PathLiteral> => {
    // A digest that fits, as the agent would write it.
    const { [stateFile]: _, ...rest } = daemonState('kube1')
    const state = stateFor(workerRunning, paramsOf(workerRunning, {}), { paths: { [stateFile]: { file: content } } })
    const node = state.tree.nodes.get(stateFile)
    const digest = node !== undefined && 'type' in node && node.type === 'file' ? node.sha256 : undefined
    return { ...rest, [stateFile]: { file: content }, [checksum]: { file: `${String(digest)}\n` } }
  }
  test.each<[what: string, paths: Record<string, PathLiteral>, words: RegExp]>([
    ['its file is missing', { [stateFile]: 'absent' }, /daemon-state\.json is missing/],
    ['its checksum is missing', { [checksum]: 'absent' }, /daemon-state\.json\.sha256 is missing/],
    ['they do not agree', { [checksum]: { file: 'f'.repeat(64) } }, /does not match its checksum/],
    ['its checksum is empty', { [checksum]: { file: '' } }, /does not match its checksum/],
    ['it is no JSON', text('kube1'), /is not JSON/],
    ['it is JSON and no object', text('"kube1"'), /names no active machine/],
    ['it names nobody', text('{"activeMachine":""}'), /names no active machine/],
    ['it names a machine that is no side', text('{"activeMachine":"kube3"}'), /names no active machine/],
    ['it names a side by a number', text('{"activeMachine":1}'), /names no active machine/],
    ['it is far too long', text(JSON.stringify({ activeMachine: 'kube1', more: 'x'.repeat(70_000) })), /larger than/],
    ['it is a directory', { [stateFile]: { dir: [] } }, /daemon-state\.json is missing/],
  ])('%s', (_, paths, words) => {
    expect(result(workerRunning, {}, dead({}, { paths }))).toEqual({ blocked: 'state-unreadable' })
    const said = refusal(workerRunning, {}, dead({}, { paths }))
    expect(said).toMatch(words)
    expect(said).toMatch(/Running now: none\./)
  })

  test('the machines that run are named, to help a person decide', () => {
    const paths = { [stateFile]: 'absent' } as const
    expect(refusal(workerRunning, {}, dead(runs, { paths }))).toContain(`Running now: ${kube1}.`)
    expect(refusal(workerRunning, {}, dead(runs, { units: { [kube2]: runs }, paths }))).toContain(
      `Running now: ${kube1}, ${kube2}.`,
    )
  })

  test('without root the file is not called damaged', () => {
    const said = refusal(workerRunning, {}, dead({}, { os: { uid: 1000 }, paths: { [stateFile]: 'absent' } }))
    expect(said).toMatch(/Without root/)
    expect(said).not.toMatch(/missing|match/)
  })
})

describe('what is found and left as it is', () => {
  test('a worker stopped on purpose is well, and it is said how to have it back', () => {
    expect(planned(dead({}, { paths: disabled }))).toMatchObject({
      changes: [],
      findings: [
        {
          check: 'worker-stopped',
          target: kube1,
          severity: 'ok',
          message: expect.stringMatching(/disabled and stopped/),
          remedy: expect.stringContaining('machinectl enable kube1'),
        },
      ],
    })
  })

  test('one that runs and would not be there after a boot is a warning', () => {
    expect(planned(dead(runs, { paths: disabled }))).toMatchObject({
      changes: [],
      findings: [{ check: 'worker-not-enabled', target: kube1, severity: 'warning', message: /next boot/ }].map(
        (finding) => ({ ...finding, message: expect.stringMatching(finding.message) }),
      ),
    })
  })

  test.each<[what: string, host: HostLiteral]>([
    ['a worker that runs', dead(runs)],
    ['one that is started', dead({})],
  ])('of %s nothing is said', (_, host) => expect(planned(host).findings).toEqual([]))
})

describe('the start', () => {
  test('the worker must come up within within_s and stay up for stable_s', () => {
    expect(planned(dead(nspawn), { stable_s: 3, within_s: 20 }).changes).toMatchObject([
      { kind: 'systemctl', verb: 'start', unit: kube1 },
      { kind: 'await', condition: { unit: kube1, is: 'active' }, stableMs: 3000, withinMs: 23_000 },
      { kind: 'await', condition: { machine: 'kube1', is: 'running' }, stableMs: 0, withinMs: 23_000 },
    ])
  })

  test('whatever of it fails, the worker is down, and it is said where to look', () => {
    for (const { failure } of planned(dead(nspawn)).changes)
      expect(failure).toMatchObject({
        code: 'worker-down',
        message: expect.stringContaining(kube1),
        remedy: expect.stringMatching(/journalctl -u systemd-nspawn@kube1\.service.*machinectl status kube1/),
      })
  })

  test('it is not made where the worker was disabled or the side switched since', () => {
    const { state, changes } = planned(dead({}))
    const [first] = changes
    if (first === undefined) throw new Error('no change')
    expect(expectationsOf(state, first)).toEqual(
      expect.arrayContaining([
        { unit: kube1, property: 'ActiveState', value: 'inactive' },
        { path: `${wants}/${kube1}`, is: 'symlink', target: template.link },
        { path: stateFile, is: 'file', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]),
    )
  })

  test('a refusal for a containerd that failed names it and what to do, and restarts nothing', () => {
    const host = dead({}, { units: { [agent]: container, 'containerd.service': { ActiveState: 'failed' } } })
    const said = refusal(workerRunning, {}, host)
    expect(said).toMatch(/The agent is inactive because containerd\.service.*is failed/)
    expect(said).toMatch(/journalctl -u containerd\.service/)
  })

  test('a masked worker is never unmasked', () => {
    expect(refusal(workerRunning, {}, dead({ LoadState: 'masked' }))).toMatch(
      /systemd-nspawn@kube1\.service is masked.*systemctl unmask.*never unmasks/,
    )
  })
})

test('whatever the host is like, no change names the other side, the target or the agent', () => {
  const unit = fc.record({
    ActiveState: fc.constantFrom('active', 'inactive', 'failed', 'activating', 'deactivating', 'reloading'),
    SubState: fc.constantFrom('running', 'dead', 'start', 'auto-restart'),
    LoadState: fc.constantFrom('loaded', 'loaded', 'loaded', 'masked', 'not-found'),
    UnitFileState: fc.constantFrom('enabled', 'disabled', 'masked'),
    Result: fc.constantFrom('success', 'exit-code', 'start-limit-hit'),
    ExecStart: fc.constantFrom('', nspawn.ExecStart as string, sleep.ExecStart as string),
    StartLimitBurst: fc.constantFrom('5', '0'),
    StartLimitIntervalUSec: fc.constantFrom('10s', '0'),
    MainPID: fc.constantFrom('0', '77'),
  })
  const places = ['/etc/systemd/system', '/run/systemd/system', '/usr/lib/systemd/system']
  const links = fc.subarray(
    places.flatMap((place) => [kube1, kube2].map((name) => `${place}/machines.target.wants/${name}`)),
  )
  let started = 0
  fc.assert(
    fc.property(
      fc.record({
        side: fc.constantFrom('kube1', 'kube2'),
        family: fc.constantFrom('rhel' as const, 'acl' as const),
        units: fc.record({ agent: unit, target: unit, kube1: unit, kube2: unit, containerd: unit }),
        needs: fc.constantFrom('', 'containerd.service'),
        links,
      }),
      ({ side, family, units, needs, links: present }) => {
        const host = runningHost({
          os: { family },
          units: {
            [agent]: { ...units.agent, Requires: needs, Wants: 'machines.target' },
            'machines.target': { ...units.target, Wants: `${kube1} ${kube2}` },
            'containerd.service': units.containerd,
            [kube1]: units.kube1,
            [kube2]: units.kube2,
          },
          paths: {
            [`${wants}/${kube1}`]: 'absent',
            ...Object.fromEntries(present.map((path) => [path, template])),
            ...daemonState(side),
          },
        })
        const wanted = paramsOf(workerRunning, {})
        const plan = planOn(workerRunning, wanted, stateFor(workerRunning, wanted, host))
        const changes = plan.status === 'planned' ? plan.changes : []
        const other = side === 'kube1' ? 'kube2' : 'kube1'
        expect(JSON.stringify(changes)).not.toContain(other)
        for (const change of changes) {
          if (change.kind === 'systemctl')
            expect(change).toMatchObject({
              verb: expect.stringMatching(/^(start|reset-failed)$/),
              unit: `systemd-nspawn@${side}.service`,
            })
          else expect(change.kind).toBe('await')
        }
        if (changes.length > 0) started += 1
      },
    ),
    { numRuns: 500 },
  )
  expect(started).toBeGreaterThan(0)
})
