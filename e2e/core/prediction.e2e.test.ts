import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { predict } from '../../src/changes/predict.ts'
import type { Fact } from '../../src/facts/fact.ts'
import type { HostState } from '../../src/facts/state.ts'
import { canonical, lookUp } from '../../src/facts/tree.ts'
import type { UnitModel } from '../../src/facts/unit.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { differences } from '../support/compare.ts'
import { type CoreHost, openCore } from '../support/core.ts'

/** Property: what a change is predicted to do is what the host shows afterwards, for every kind of change. */

let lab: Lab
const hosts = new Map<string, { host: LabHost; core: CoreHost }>()
const images = ['rhel9-like', 'ubuntu-like'] as const

beforeAll(async () => {
  lab = await openLab('prediction', { yes: true })
  for (const image of images) {
    const host = await lab.boot({ name: `p-${image.slice(0, 4)}`, image, agent: 'none', worker: 'none' })
    hosts.set(image, { host, core: await openCore(lab, host) })
  }
}, 300_000)

afterAll(async () => {
  for (const { core } of hosts.values()) await core.close()
  await lab.close()
})

const base = '/srv/prediction'
const names = ['a', 'b', 'c']
// Two levels are enough for every relation there is: parent, child, sibling, through a link.
const paths = [
  ...names.map((name) => `${base}/${name}`),
  ...names.flatMap((one) => names.map((other) => `${base}/${one}/${other}`)),
]
const path = fc.constantFrom(...paths)
const mode = fc.constantFrom(0o600, 0o644, 0o755)
const fileChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    path,
    content: fc.string({ unit: 'binary' }).map(wellFormed),
    mode,
    owner: fc.constant('root:root'),
  }),
  fc.record({
    kind: fc.constant('link' as const),
    path,
    target: fc.oneof(path, fc.constantFrom('a', 'b/c', '../prediction/c', 'nowhere')),
  }),
  fc.record({ kind: fc.constant('directory' as const), path, mode, owner: fc.constant('root:root') }),
  fc.record({ kind: fc.constant('remove' as const), path, recurse: fc.constant(true) }),
  fc.record({ kind: fc.constant('rename' as const), from: path, to: path }),
  fc.record({ kind: fc.constant('attributes' as const), path, mode, owner: fc.constant('root:root') }),
)

function wellFormed(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

const facts: Fact[] = [
  { kind: 'path', path: base },
  ...paths.map((each): Fact => ({ kind: 'path', path: each, content: 4096, sha256: true, entries: true })),
]

describe.each(images)('on %s', (image) => {
  test('files, links and directories end up as predicted, whatever the order', async () => {
    const { host, core } = hosts.get(image) as { host: LabHost; core: CoreHost }
    await fc.assert(
      fc.asyncProperty(fc.array(fileChange, { minLength: 1, maxLength: 12 }), async (wanted) => {
        await host.must('find /srv/prediction -mindepth 1 -delete 2>/dev/null; mkdir -p /srv/prediction')
        const before = await core.inspect(facts)
        let predicted = before
        const changes: Change[] = []
        for (const change of wanted) {
          if (!isPossible(predicted, change)) continue
          changes.push(change)
          predicted = predict(predicted, change)
        }
        fc.pre(changes.length > 0)
        await core.apply(before, changes)
        expect(differences(predicted, await core.inspect(facts), paths)).toEqual([])
      }),
      { numRuns: 25, seed: 437 },
    )
  }, 180_000)

  test('units end up as predicted by every verb, a reload, a wait and a command', async () => {
    const { host, core } = hosts.get(image) as { host: LabHost; core: CoreHost }
    await host.must(unitFiles)
    await host.must('systemctl start fails.service || [ $? = 1 ]')
    for (const { name, prepared, changes, moves } of sequences) {
      if (prepared !== undefined) await host.must(prepared)
      const before = await core.inspect(unitFacts)
      const wanted = changes(before)
      const predicted = wanted.reduce(predict, before)
      if (wanted.length > 0) await core.apply(before, wanted)
      const after = await core.inspect(unitFacts)
      expect(differences(predicted, after, unitPaths), name).toEqual([])
      // Had nothing been predicted, it would have been wrong.
      const moved = new Set(
        differences(before, after, unitPaths).map((line) => line.slice(0, line.indexOf(': predicted'))),
      )
      expect([...moved], name).toEqual(expect.arrayContaining(moves))
    }
  }, 240_000)
})

test('what an installation brings is as predicted or unknown', async () => {
  const host = await lab.boot({ name: 'p-bare', image: 'rhel9-like-bare' })
  const core = await openCore(lab, host)
  hosts.set('rhel9-like-bare', { host, core })
  const brought: Fact[] = [
    { kind: 'package', name: 'systemd-container' },
    { kind: 'package', name: 'nftables' },
    { kind: 'program', name: 'machinectl' },
    { kind: 'program', name: 'nft' },
    { kind: 'command', argv: ['systemctl', 'is-enabled', 'machines.target'] },
    { kind: 'unit', name: 'machines.target' },
    { kind: 'unit', name: 'systemd-nspawn@kube1.service' },
    { kind: 'unit', name: 'dbus-broker.service' },
    { kind: 'unit', name: 'multi-user.target' },
    { kind: 'path', path: '/usr/bin/systemd-nspawn' },
    { kind: 'path', path: '/etc/os-release', content: 4096, sha256: true },
  ]
  const before = await core.inspect(brought)
  const install: Change = { kind: 'package', install: ['systemd-container'], manager: 'dnf' }
  const predicted = predict(before, install)
  await core.apply(before, [install])
  const after = await core.inspect(brought)
  expect(differences(predicted, after, ['/usr/bin/systemd-nspawn', '/etc/os-release'])).toEqual([])
  expect(differences(before, after, ['/usr/bin/systemd-nspawn']).length).toBeGreaterThan(5)
}, 600_000)

/** A dependency shows at its other end only while systemd has both units loaded, which the holder sees to. */
const unitFiles = `cd /etc/systemd/system
service() {
  printf '[Unit]\nStartLimitIntervalSec=1h\nStartLimitBurst=100\n%b\n[Service]\n%b\n[Install]\nWantedBy=multi-user.target\n' "$2" "\${3:-ExecStart=/bin/sleep infinity}" >"$1"
}
service one.service 'Wants=two.service all.target\nPropagatesStopTo=told.service'
service two.service 'PartOf=one.service'
service requires.service 'Requisite=one.service\nAfter=one.service'
service told.service ''
service either.service 'Conflicts=or.service\nAfter=or.service'
service or.service 'PartOf=above.service'
service above.service ''
service with-or.service 'Requires=or.service\nAfter=or.service'
service fails.service '' 'Type=oneshot\nExecStart=/bin/false'
service many@.service ''
printf '[Unit]\nWants=wanted.service\n' >all.target
service wanted.service ''
service holder.service 'After=one.service two.service requires.service told.service either.service or.service above.service with-or.service many@x.service all.target wanted.service'
systemctl daemon-reload
systemctl start holder.service`

const counted = ['one.service', 'two.service', 'either.service', 'or.service', 'fails.service', 'wanted.service']
const oneDropIn = '/etc/systemd/system/one.service.d'
const manyDropIn = '/etc/systemd/system/many@.service.d'
const said = '/srv/said'
const unitPaths = [oneDropIn, `${oneDropIn}/10-more.conf`, manyDropIn, `${manyDropIn}/x.conf`, said]
const say = ['cat', said]
const unitFacts: Fact[] = [
  ...counted.map((name): Fact => ({ kind: 'unit', name, starts: true })),
  ...[
    'requires.service',
    'told.service',
    'with-or.service',
    'above.service',
    'many@x.service',
    'three.service',
    'all.target',
    'multi-user.target',
  ].map((name): Fact => ({ kind: 'unit', name })),
  ...unitPaths.map((each): Fact => ({ kind: 'path', path: each, content: 100, sha256: true, entries: true })),
  { kind: 'command', argv: say },
]

const does = (verb: 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'reset-failed', unit: string): Change => ({
  kind: 'systemctl',
  verb,
  unit,
})
const up = (unit: string): Change => ({
  kind: 'await',
  condition: { unit, is: 'active' },
  withinMs: 10_000,
  stableMs: 0,
})
const dropIn = (directory: string, name: string, content: string, model?: UnitModel): Change[] => [
  { kind: 'directory', path: directory, mode: 0o755, owner: 'root:root' },
  {
    kind: 'write',
    path: `${directory}/${name}`,
    content,
    mode: 0o644,
    owner: 'root:root',
    ...(model !== undefined && { model }),
  },
]
const reload: Change = { kind: 'systemctl', verb: 'daemon-reload' }

interface Sequence {
  readonly name: string
  readonly prepared?: string
  readonly changes: (before: HostState) => Change[]
  /** What is another on the host afterwards. */
  readonly moves: string[]
}

/** Or.service is not there any more, and what requires it runs on. */
const orEnds = `systemctl start with-or.service
systemctl kill or.service
until [ "$(systemctl is-active or.service)" = inactive ]; do :; done`

const sequences: readonly Sequence[] = [
  {
    name: 'a start and what it pulls in',
    changes: () => [does('start', 'one.service'), ...['one', 'two', 'wanted'].map((name) => up(`${name}.service`))],
    moves: ['one.service exe', 'two.service ActiveState', 'all.target ActiveState', 'wanted.service starts'],
  },
  {
    name: 'starts of what will stop along',
    changes: () =>
      ['requires', 'told', 'many@x'].flatMap((name) => [does('start', `${name}.service`), up(`${name}.service`)]),
    moves: ['requires.service ActiveState', 'told.service ActiveState', 'many@x.service exe'],
  },
  {
    name: 'a restart',
    changes: () => [does('restart', 'one.service'), up('one.service'), up('two.service'), up('requires.service')],
    moves: ['one.service MainPID', 'two.service InvocationID', 'requires.service MainPID', 'two.service starts'],
  },
  {
    name: 'a start of what the restart may have stopped',
    changes: (before) =>
      before.units.get('told.service')?.properties.ActiveState === 'active'
        ? []
        : [does('start', 'told.service'), up('told.service')],
    moves: [],
  },
  {
    name: 'a wait',
    changes: (before) => {
      const mainPid = String(before.units.get('one.service')?.properties.MainPID)
      return [
        up('one.service'),
        { kind: 'await', condition: { unit: 'one.service', is: 'untouched', mainPid }, withinMs: 0, stableMs: 0 },
      ]
    },
    moves: [],
  },
  {
    name: 'a stop and what stops along',
    changes: () => [does('stop', 'one.service')],
    moves: [
      'one.service SubState',
      'two.service exe',
      'requires.service ActiveState',
      'told.service ActiveState',
      'one.service MainPID',
    ],
  },
  {
    name: 'an enablement',
    changes: () => [does('enable', 'one.service')],
    moves: ['one.service UnitFileState', 'one.service WantedBy', 'multi-user.target Wants'],
  },
  { name: 'a disablement', changes: () => [does('disable', 'one.service')], moves: ['one.service UnitFileState'] },
  {
    name: 'a drop-in that is not loaded yet',
    changes: () =>
      dropIn(oneDropIn, '10-more.conf', '[Unit]\nWants=three.service told.service\n', {
        unit: 'one.service',
        adds: { Wants: ['three.service', 'told.service'] },
      }),
    // Not NeedDaemonReload: systemd 252 notices a new directory of drop-ins or not, as its cache happens to stand.
    moves: ['/etc/systemd/system/one.service.d/10-more.conf type'],
  },
  {
    name: 'a drop-in with a model, loaded',
    changes: () => [
      ...dropIn(oneDropIn, '10-more.conf', '[Unit]\nWants=three.service told.service two.service\n', {
        unit: 'one.service',
        adds: { Wants: ['three.service', 'told.service', 'two.service'] },
      }).slice(1),
      reload,
    ],
    moves: ['one.service Wants', 'one.service NeedDaemonReload', 'told.service WantedBy'],
  },
  {
    name: 'a drop-in of a template that nobody knows',
    changes: () => [...dropIn(manyDropIn, 'x.conf', '[Unit]\nRequisite=or.service\nConflicts=told.service\n'), reload],
    moves: ['many@x.service Conflicts', 'or.service RequisiteOf', 'told.service ConflictedBy'],
  },
  {
    name: 'a start that stops what conflicts',
    changes: () => [
      ...['or', 'with-or'].flatMap((name) => [does('start', `${name}.service`), up(`${name}.service`)]),
      does('start', 'either.service'),
      up('either.service'),
    ],
    moves: ['either.service ActiveState', 'or.service starts'],
  },
  {
    name: 'the other way round',
    changes: () => [does('start', 'or.service'), up('or.service')],
    moves: ['either.service ActiveState', 'either.service exe', 'or.service ActiveState'],
  },
  {
    name: 'a start that conflicts with what ended by itself, and leaves what required that',
    prepared: orEnds,
    changes: () => [does('start', 'either.service'), up('either.service')],
    moves: ['either.service ActiveState'],
  },
  {
    name: 'a stop that reaches what ended by itself, and leaves what required that',
    prepared: `systemctl start above.service; ${orEnds}`,
    changes: () => [does('stop', 'above.service')],
    moves: ['above.service ActiveState'],
  },
  {
    name: 'a stop of what ended by itself, and of what required that',
    prepared: orEnds,
    changes: () => [does('stop', 'or.service')],
    moves: ['with-or.service ActiveState'],
  },
  {
    name: 'a failure that is forgotten',
    changes: () => [does('reset-failed', 'fails.service'), does('reset-failed', 'or.service')],
    moves: ['fails.service ActiveState', 'fails.service SubState', 'fails.service Result'],
  },
  {
    name: 'a command that says what it touches',
    prepared: 'systemctl start or.service',
    changes: () => [
      {
        kind: 'run',
        argv: ['/bin/sh', '-c', `echo said >${said}; systemctl stop or.service`],
        timeoutMs: 10_000,
        spoils: [`path:${said}`, 'unit:or.service'],
      },
    ],
    moves: [`${said} type`, 'or.service ActiveState', 'commands command:["cat","/srv/said"]'],
  },
]

/** What a task would not plan: a change whose parent is missing, or that would replace something of another kind. */
/** Nothing is moved into itself, whatever it is called by. */
const isInside = (state: HostState, from: string, to: string): boolean => {
  const [source, target] = [canonical(state.tree, from), canonical(state.tree, to)]
  return typeof source !== 'string' || typeof target !== 'string' || `${target}/`.startsWith(`${source}/`)
}

const isPossible = (state: HostState, change: Change): boolean => {
  if (change.kind === 'rename') {
    const { from, to } = change
    const isThere = isPossible(state, { kind: 'remove', path: from, recurse: true })
    const isFree = isPossible(state, { kind: 'directory', path: to, mode: 0o755, owner: 'root:root' })
    return isThere && isFree && !isInside(state, from, to)
  }
  if (!('path' in change)) return true
  const node = lookUp(state.tree, change.path)
  const parent = lookUp(state.tree, change.path.slice(0, change.path.lastIndexOf('/')), true)
  const type = node !== undefined && 'type' in node ? node.type : 'unknown'
  if (parent === undefined || !('type' in parent) || parent.type !== 'directory') return false
  switch (change.kind) {
    case 'write':
    case 'link':
      return type !== 'directory' && type !== 'unknown'
    case 'directory':
      return type === 'absent'
    case 'remove':
      return type !== 'absent' && type !== 'unknown'
    case 'attributes':
      return type === 'file' || type === 'directory'
    default:
      return true
  }
}
