import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../src/changes/describe.ts'
import type { Value } from '../../src/playbook/value.ts'
import { dropInFile } from '../../src/tasks/agent/paths.ts'
import { machinesTargetWired } from '../../src/tasks/machines-target-wired.ts'
import { machinesTargetDropIn } from '../../src/tasks/units/machines-target-drop-in.ts'
import { aHost, daemonState, enabledTarget, runningHost, stuckHost } from './deployed.ts'
import { paramsOf, planOn, predicted, type Result, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from './host-state.ts'

const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'
const kube2 = 'systemd-nspawn@kube2.service'
const unitFile = `/etc/systemd/system/${agent}`
const directory = `${unitFile}.d`
const link = (unit: string): string => `/etc/systemd/system/machines.target.wants/${unit}`

const running: UnitLiteral = {
  ActiveState: 'active',
  SubState: 'running',
  UnitFileState: 'enabled',
  MainPID: '42',
  Wants: 'network-online.target',
}
const loaded: UnitLiteral = { ...running, Wants: 'network-online.target machines.target' }
const dropIn: Record<string, PathLiteral> = { [dropInFile]: { file: machinesTargetDropIn.content } }

/** Some file of the unit other than drover's names the target, however the task asks for that. */
const namedOnDisk: NonNullable<HostLiteral['commands']> = machinesTargetWired
  .facts(paramsOf(machinesTargetWired, {}), aHost())
  .flatMap((fact) =>
    fact.kind === 'command' && fact.argv.some((word) => word.includes(agent))
      ? [[fact.argv, { code: 0 }] as const]
      : [],
  )

const write = `write ${dropInFile} (0644 root:root, 29 bytes)`
const reload = 'systemctl daemon-reload'
const wires = [write, reload]
const heals = [
  `systemctl restart ${agent}`,
  `wait until ${agent} is active for 15 s`,
  `wait until ${kube1} is active for 15 s`,
]
const enables = 'systemctl enable machines.target'

type Params = { readonly [key: string]: Value }
type Row = readonly [what: string, host: HostLiteral, params: Params, result: Result]

const wiringRows: readonly Row[] = [
  ['an agent that does not want the target gets a drop-in, loaded at once', runningHost(), {}, wires],
  [
    'the directory of drop-ins is made where it is missing',
    runningHost({ paths: { [directory]: 'absent' } }),
    {},
    [`create directory ${directory} (0755 root:root)`, ...wires],
  ],
  [
    'another text in the file of that name is replaced',
    runningHost({ paths: { [dropInFile]: { file: '[Unit]\n' } } }),
    {},
    wires,
  ],
  ['drover’s drop-in, loaded, is all it takes', runningHost({ units: { [agent]: loaded }, paths: dropIn }), {}, []],
  ['loaded and on no disk, it would be gone at the next boot', runningHost({ units: { [agent]: loaded } }), {}, wires],
  [
    'an agent of a release that wants the target itself needs no drop-in',
    runningHost({
      units: { [agent]: loaded },
      paths: { [unitFile]: { file: '[Unit]\nWants=network-online.target machines.target\n' } },
      commands: namedOnDisk,
    }),
    {},
    [],
  ],
  [
    'an operator’s own drop-in that wants it is enough',
    runningHost({
      units: { [agent]: { ...loaded, DropInPaths: `${directory}/10-mine.conf` } },
      paths: { [`${directory}/10-mine.conf`]: { file: '[Unit]\nWants=machines.target\n' } },
      commands: namedOnDisk,
    }),
    {},
    [],
  ],
  [
    'a link under the agent’s wants is enough as well',
    runningHost({
      units: { [agent]: loaded },
      paths: { [`${unitFile}.wants/machines.target`]: { link: '/usr/lib/systemd/system/machines.target' } },
      commands: namedOnDisk,
    }),
    {},
    [],
  ],
  [
    'the container variant is wired alike (W5)',
    runningHost({ units: { [agent]: { ...running, Requires: 'containerd.service' }, 'containerd.service': running } }),
    {},
    wires,
  ],
  ['an agent that is down is wired for the next boot', runningHost({ units: { [agent]: {} } }), {}, wires],
  ['without root the wiring is known all the same', runningHost({ os: { uid: 1000 } }), {}, wires],
  ['a worker stopped on purpose stays stopped (W4)', stuckHost({ paths: { [link(kube1)]: 'absent' } }), {}, wires],
]

const restartRows: readonly Row[] = [
  ['a stuck host is wired and healed by a restart of the agent', stuckHost(), {}, [...wires, ...heals]],
  ['with restart_agent: heal as without a word', stuckHost(), { restart_agent: 'heal' }, [...wires, ...heals]],
  ['with restart_agent: never it is wired for the next boot only', stuckHost(), { restart_agent: 'never' }, wires],
  ['wired already, it only lacks the restart', stuckHost({ units: { [agent]: loaded }, paths: dropIn }), {}, heals],
  [
    'wired already and not to be restarted, nothing is left',
    stuckHost({ units: { [agent]: loaded }, paths: dropIn }),
    { restart_agent: 'never' },
    [],
  ],
]

const reloadRows: readonly Row[] = [
  ['on disk and never loaded, it lacks only the reload', runningHost({ paths: dropIn }), {}, [reload]],
  ['on disk and never loaded, it is loaded before the restart', stuckHost({ paths: dropIn }), {}, [reload, ...heals]],
]

const enableRows: readonly Row[] = [
  ['the target itself is not enabled unasked', runningHost(), { enable_target: false }, wires],
  ['asked for, it is enabled as well', runningHost(), { enable_target: true }, [...wires, enables]],
  ['one that a boot starts is left alone', runningHost({ paths: enabledTarget }), { enable_target: true }, wires],
  [
    'systemd’s cached word for it does not count, the link does',
    runningHost({ units: { 'machines.target': { ActiveState: 'active', UnitFileState: 'enabled' } } }),
    { enable_target: true },
    [...wires, enables],
  ],
  [
    'on a wired host that is all there is to do',
    runningHost({ units: { [agent]: loaded }, paths: dropIn }),
    { enable_target: true },
    [enables],
  ],
  ['it is enabled before the agent is restarted', stuckHost(), { enable_target: true }, [...wires, enables, ...heals]],
]

const refusalRows: readonly Row[] = [
  ['no agent is installed', {}, {}, { blocked: 'agent-missing' }],
  [
    'the agent’s unit is masked and was never there',
    { paths: { [unitFile]: { link: '/dev/null' } }, units: { [agent]: { LoadState: 'masked' } } },
    {},
    { blocked: 'agent-missing' },
  ],
  [
    'the target is masked',
    stuckHost({ units: { 'machines.target': { LoadState: 'masked', UnitFileState: 'masked' } } }),
    {},
    { blocked: 'target-masked' },
  ],
  [
    'the target is masked on disk and not yet to systemd',
    runningHost({ units: { 'machines.target': { ActiveState: 'active', UnitFileState: 'masked-runtime' } } }),
    {},
    { blocked: 'target-masked' },
  ],
  [
    'the target is masked, and wiring for the next boot would be in vain as well',
    stuckHost({ units: { 'machines.target': { LoadState: 'masked', UnitFileState: 'masked' } } }),
    { restart_agent: 'never', enable_target: true },
    { blocked: 'target-masked' },
  ],
  [
    'systemd-container is not installed',
    stuckHost({ units: { 'machines.target': { LoadState: 'not-found' } } }),
    {},
    { blocked: 'precondition-unmet' },
  ],
  [
    'a directory lies where the drop-in goes',
    runningHost({ paths: { [dropInFile]: { dir: [] } } }),
    {},
    { blocked: 'path-in-the-way' },
  ],
  [
    'a link lies where the drop-in goes',
    runningHost({ paths: { [dropInFile]: { link: '/dev/null' }, '/dev/null': 'other' } }),
    {},
    { blocked: 'path-in-the-way' },
  ],
  [
    'a socket lies where the drop-in goes',
    runningHost({ paths: { [dropInFile]: 'other' } }),
    {},
    { blocked: 'path-in-the-way' },
  ],
  [
    'a file lies where the directory of drop-ins goes',
    runningHost({ paths: { [directory]: { file: '' } } }),
    {},
    { blocked: 'path-in-the-way' },
  ],
  [
    '/etc cannot be written',
    runningHost({ mounts: { [dropInFile]: { readOnly: true, mountPoint: '/etc' } } }),
    {},
    { blocked: 'precondition-unmet' },
  ],
  [
    '/etc cannot be written, and need not be',
    runningHost({
      units: { [agent]: loaded },
      paths: dropIn,
      mounts: { [dropInFile]: { readOnly: true, mountPoint: '/etc' } },
    }),
    {},
    [],
  ],
  [
    'daemon-state.json is damaged, so whom a restart is for cannot be said',
    stuckHost({ paths: { '/etc/aks-flex-node/daemon-state.json.sha256': { file: 'f'.repeat(64) } } }),
    {},
    { blocked: 'state-unreadable' },
  ],
  [
    'daemon-state.json is damaged, and no restart hangs on it',
    stuckHost({ paths: { '/etc/aks-flex-node/daemon-state.json.sha256': { file: 'f'.repeat(64) } } }),
    { restart_agent: 'never' },
    wires,
  ],
  [
    'daemon-state.json is damaged, and with the target up a restart would start nobody',
    runningHost({ paths: { '/etc/aks-flex-node/daemon-state.json': 'absent' } }),
    {},
    wires,
  ],
  [
    'without root it cannot be said whom a restart is for',
    stuckHost({ os: { uid: 1000 } }),
    {},
    { blocked: 'inspect-failed' },
  ],
]

describe.each([
  ['the wiring (W1)', wiringRows],
  ['the reload', reloadRows],
  ['the restart', restartRows],
  ['the target’s own enablement', enableRows],
  ['what keeps it from being done', refusalRows],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_what, host, params, expected) => {
    expect(result(machinesTargetWired, params, host)).toEqual(expected)
  })
})

test.each([...wiringRows, ...restartRows, ...enableRows])(
  'carried out, nothing is left to do: %s',
  (_, host, params) => {
    const wanted = paramsOf(machinesTargetWired, params)
    const state = stateFor(machinesTargetWired, wanted, host)
    const first = planOn(machinesTargetWired, wanted, state)
    const second = planOn(machinesTargetWired, wanted, predicted(state, first))
    // What an enablement or a starting agent leaves unknown is for the second look at the host.
    if (second.status !== 'unknown') expect(second).toMatchObject({ status: 'planned', changes: [] })
    else expect(JSON.stringify(first)).toMatch(/"verb":"(enable|restart)"/)
  },
)

test('what the drop-in says is Wants= alone, so that a worker that hangs never holds up the agent', () => {
  const wanted = paramsOf(machinesTargetWired, {})
  expect(planOn(machinesTargetWired, wanted, stateFor(machinesTargetWired, wanted, runningHost()))).toMatchObject({
    changes: [{ kind: 'write', content: '[Unit]\nWants=machines.target\n' }, {}],
  })
})

describe('a refusal names what stands in the way and what to do', () => {
  test.each<[what: string, host: HostLiteral, words: readonly RegExp[]]>([
    [
      'a masked target',
      stuckHost({ units: { 'machines.target': { LoadState: 'masked', UnitFileState: 'masked' } } }),
      [/machines\.target is masked/, /systemctl unmask machines\.target/, /never unmasks/],
    ],
    [
      'a missing target',
      stuckHost({ units: { 'machines.target': { LoadState: 'not-found' } } }),
      [/does not know machines\.target/, /systemd-container/],
    ],
    [
      'a directory in the place of the file',
      runningHost({ paths: { [dropInFile]: { dir: [] } } }),
      [/50-drover-machines-target\.conf is a directory/],
    ],
    [
      'a link in the place of the file',
      runningHost({ paths: { [dropInFile]: { link: '/dev/null' }, '/dev/null': 'other' } }),
      [/50-drover-machines-target\.conf is a symlink/],
    ],
    [
      'a file in the place of the directory',
      runningHost({ paths: { [directory]: { file: '' } } }),
      [/aks-flex-node-agent\.service\.d is a file/],
    ],
    [
      'a read-only /etc',
      runningHost({ mounts: { [dropInFile]: { readOnly: true } } }),
      [/read-only/, /make \/etc writable/],
    ],
    ['want of root', stuckHost({ os: { uid: 1000 } }), [/Without root/, /daemon-state\.json/, /become/]],
    ['want of an agent', {}, [/No agent is installed/, /install the agent/]],
    [
      'a damaged state',
      stuckHost({ units: { [kube2]: running }, paths: { '/etc/aks-flex-node/daemon-state.json': { file: '{}' } } }),
      [/does not match its checksum/, /Running now: systemd-nspawn@kube2\.service/, /guesses nothing/],
    ],
  ])('%s', (_, host, words) => {
    const said = refusal(machinesTargetWired, {}, host)
    for (const word of words) expect(said).toMatch(word)
  })
})

describe('what the next boot will start besides is foretold', () => {
  const foretold = (host: HostLiteral, params: Params = {}): readonly string[] => {
    const wanted = paramsOf(machinesTargetWired, params)
    const planned = planOn(machinesTargetWired, wanted, stateFor(machinesTargetWired, wanted, host))
    return 'findings' in planned ? (planned.findings ?? []).map(({ check, message }) => `${check}: ${message}`) : []
  }
  const other = { [link(kube2)]: { link: '/usr/lib/systemd/system/systemd-nspawn@.service' } }

  test('the other side, enabled, with a step that wires', () => {
    expect(foretold(runningHost({ paths: other }))).toEqual([
      expect.stringMatching(/^others-start-at-boot: .*systemd-nspawn@kube2\.service/),
    ])
  })

  test('and with one that finds all as wanted, since it is still so', () => {
    expect(foretold(runningHost({ units: { [agent]: loaded }, paths: { ...dropIn, ...other } }))).toHaveLength(1)
  })

  test('although it runs now: the next boot is meant', () => {
    expect(foretold(runningHost({ units: { [kube2]: running }, paths: other }))).toHaveLength(1)
  })

  test('where the other side is the active one, the first', () => {
    expect(foretold(runningHost({ paths: { ...other, ...daemonState('kube2') } }))).toEqual([
      expect.stringContaining(kube1),
    ])
  })

  test.each<[what: string, host: HostLiteral]>([
    ['the active side alone', runningHost()],
    [
      'the mount that systemd-container brings',
      runningHost({ paths: { [link('var-lib-machines.mount')]: { link: 'x' } } }),
    ],
  ])('nothing but %s: nothing is said', (_, host) => expect(foretold(host)).toEqual([]))
})

test('whatever the host is like, nothing but the agent is ever restarted, and nothing is started or stopped', () => {
  const activeState = fc.constantFrom('active', 'inactive', 'failed', 'activating', 'deactivating')
  const unit = fc.record({
    ActiveState: activeState,
    SubState: fc.constantFrom('running', 'dead', 'start', 'auto-restart'),
    LoadState: fc.constantFrom('loaded', 'loaded', 'loaded', 'masked', 'not-found'),
    MainPID: fc.constantFrom('0', '77'),
    Result: fc.constantFrom('success', 'start-limit-hit'),
    StartLimitBurst: fc.constantFrom('5', '0'),
    StartLimitIntervalUSec: fc.constantFrom('5min', '0'),
  })
  const names = fc.subarray([kube1, kube2, 'systemd-nspawn@mine.service', 'var-lib-machines.mount'])
  fc.assert(
    fc.property(
      fc.record({
        os: fc.record({
          uid: fc.constantFrom(0, 0, 0, 1000),
          systemdVersion: fc.constantFrom(252, 257),
          family: fc.constantFrom('rhel', 'acl'),
        }) as fc.Arbitrary<NonNullable<HostLiteral['os']>>,
        units: fc.record({ agent: unit, target: unit, kube1: unit, kube2: unit }),
        starts: fc.nat(6),
        isLoaded: fc.boolean(),
        hasDropIn: fc.boolean(),
        members: names,
        allowed: names,
        side: fc.constantFrom('kube1', 'kube2'),
      }),
      ({ os, units, starts, isLoaded, hasDropIn, members, allowed, side }) => {
        const host = runningHost({
          os,
          units: {
            [agent]: { ...units.agent, starts, Wants: isLoaded ? 'machines.target' : '' },
            'machines.target': units.target,
            [kube1]: units.kube1,
            [kube2]: units.kube2,
          },
          paths: {
            [link(kube1)]: 'absent',
            ...Object.fromEntries(members.map((name) => [link(name), { link: '/usr/lib/x' }])),
            ...(hasDropIn ? dropIn : {}),
            ...daemonState(side),
          },
        })
        const wanted = paramsOf(machinesTargetWired, { allow_start: allowed })
        const planned = planOn(machinesTargetWired, wanted, stateFor(machinesTargetWired, wanted, host))
        const changes = planned.status === 'planned' ? planned.changes : []
        const acts = changes.filter(({ kind }) => kind === 'systemctl').map(summaryOf)
        const may = [reload, `systemctl restart ${agent}`, `systemctl reset-failed ${agent}`]
        expect(acts.filter((act) => !may.includes(act))).toEqual([])
        if (!acts.includes(`systemctl restart ${agent}`)) return
        // W2: who is down and would start along is the active side, or allowed by name.
        const down = members.filter((name) => {
          const known = name === kube1 ? units.kube1 : name === kube2 ? units.kube2 : null
          return known === null || (known.ActiveState !== 'active' && known.LoadState === 'loaded')
        })
        const active = `systemd-nspawn@${side}.service`
        expect([units.agent.ActiveState, units.target.ActiveState === 'active']).toEqual(['active', false])
        expect(members).toContain(active)
        expect(
          down.filter((name) => name !== active && name !== 'var-lib-machines.mount' && !allowed.includes(name)),
        ).toEqual([])
      },
    ),
  )
})
