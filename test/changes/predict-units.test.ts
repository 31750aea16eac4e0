import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { predict } from '../../src/changes/predict.ts'
import { propagation } from '../../src/changes/predict-units.ts'
import type { HostState } from '../../src/facts/state.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { type UnitModel, type UnitProperty, unitDirectories } from '../../src/facts/unit.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { reloadFor } from '../../src/tasks/general/unit-files.ts'
import { hostState, type UnitLiteral } from '../tasks/host-state.ts'

type Verb = 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'reset-failed'
const does = (verb: Verb, unit: string): Change => ({ kind: 'systemctl', verb, unit })
const reload: Change = { kind: 'systemctl', verb: 'daemon-reload' }
const changed = (units: Record<string, UnitLiteral>, ...changes: Change[]): HostState =>
  changes.reduce(predict, hostState({ units, paths: { '/etc': { dir: true } } }))
const of = (state: HostState, unit: string, property: UnitProperty) => state.units.get(unit)?.properties[property]
const active = (state: HostState): Record<string, unknown> =>
  Object.fromEntries([...state.units].map(([name, { properties }]) => [name, properties.ActiveState]))

const up = { ActiveState: 'active', SubState: 'running', MainPID: '7', InvocationID: 'abc', exe: '/bin/a' }
const unknown = expect.any(Unknown)

describe('start', () => {
  test('it is active, and whatever is new about it is unknown', () => {
    const state = changed(
      { 'a.service': { starts: 2, Result: 'exit-code', NRestarts: '4', ActiveState: 'failed' } },
      does('start', 'a.service'),
    )
    expect(state.units.get('a.service')).toMatchObject({
      exe: unknown,
      starts: 3,
      properties: {
        ActiveState: 'active',
        Result: 'success',
        NRestarts: '0',
        MainPID: unknown,
        InvocationID: unknown,
        SubState: unknown,
      },
    })
  })
  test.each(['masked', 'not-found'])('what is %s does not start', (LoadState) => {
    expect(of(changed({ 'a.service': { LoadState } }, does('start', 'a.service')), 'a.service', 'ActiveState')).toBe(
      'inactive',
    )
  })
  test('what is down and wanted comes along, what is up stays as it is', () => {
    const state = changed(
      {
        'a.target': {
          Wants: 'b.service up.service never-asked.service',
          Requires: 'c.service',
          ActiveState: 'inactive',
        },
        'b.service': { BindsTo: 'd.service' },
        'c.service': { LoadState: 'masked' },
        'd.service': { Wants: 'a.target' },
        'up.service': { ...up, Wants: 'e.service' },
        'e.service': {},
      },
      does('start', 'a.target'),
    )
    expect(active(state)).toEqual({
      'a.target': 'active',
      'b.service': 'active',
      'c.service': 'inactive',
      'd.service': 'active',
      'up.service': 'active',
      'e.service': 'inactive',
    })
    expect(of(state, 'up.service', 'MainPID')).toBe('7')
  })
  test('of an active target starts again what it wants and is down (mechanisms.md 6.5)', () => {
    const state = changed(
      { 'a.target': { ...up, Wants: 'b.service' }, 'b.service': { ActiveState: 'failed' } },
      does('start', 'a.target'),
    )
    expect(of(state, 'b.service', 'ActiveState')).toBe('active')
  })
})

describe('stop and restart reach', () => {
  const units: Record<string, UnitLiteral> = {
    'a.service': { ...up, ConsistsOf: 'part.service', RequiredBy: 'req.service', BoundBy: 'bound.service' },
    'part.service': { ...up, ConsistsOf: 'part-of-part.service' },
    'req.service': { ...up },
    'bound.service': { ActiveState: 'inactive', RequiredBy: 'behind-inactive.service' },
    'part-of-part.service': { ...up, RequiredBy: 'a.service' },
    'behind-inactive.service': { ...up },
    'other.service': { ...up },
  }
  const state = hostState({ units })
  const reached = ['part.service', 'req.service', 'bound.service', 'part-of-part.service']
  test.each(['stop', 'restart'] as const)(
    'by a %s what is part of it, requires it or is bound to it, what does so of those, and nothing for the sake of what is down',
    (verb) => {
      expect(propagation(state.units, { kind: 'systemctl', verb, unit: 'a.service' })).toEqual(reached)
    },
  )
  test('for its own sake what requires it, even where it is down itself', () => {
    for (const verb of ['stop', 'restart'] as const)
      expect(propagation(state.units, { kind: 'systemctl', verb, unit: 'bound.service' })).toEqual([
        'behind-inactive.service',
      ])
  })
  test('units nobody asked about too, and none of a unit nobody asked about', () => {
    const one = hostState({ units: { 'a.service': { BoundBy: 'far.service' } } })
    expect(propagation(one.units, { kind: 'systemctl', verb: 'stop', unit: 'a.service' })).toEqual(['far.service'])
    expect(propagation(one.units, { kind: 'systemctl', verb: 'stop', unit: 'b.service' })).toEqual([])
  })
  test('and so it is predicted', () => {
    expect(active(predict(state, does('stop', 'a.service')))).toEqual({
      'a.service': 'inactive',
      'part.service': 'inactive',
      'req.service': 'inactive',
      'bound.service': 'inactive',
      'part-of-part.service': 'inactive',
      'behind-inactive.service': 'active',
      'other.service': 'active',
    })
    const restarted = predict(state, does('restart', 'a.service'))
    expect([...restarted.units].filter(([, { exe }]) => exe instanceof Unknown).map(([name]) => name)).toEqual([
      'a.service',
      'part.service',
      'req.service',
      'part-of-part.service',
    ])
    expect(of(restarted, 'bound.service', 'ActiveState')).toBe('inactive')
  })
})

describe('relations that few units have', () => {
  const verbs = (verb: 'start' | 'stop' | 'restart', units: Record<string, UnitLiteral>, unit = 'a.service') =>
    propagation(hostState({ units }).units, { kind: 'systemctl', verb, unit })
  test('what has a.service as its requisite stops and restarts along; what a.service propagates its stop to stops, and on a restart may', () => {
    const units = { 'a.service': { ...up, RequisiteOf: 'r.service', PropagatesStopTo: 's.service' } }
    expect(verbs('stop', units)).toEqual(['r.service', 's.service'])
    expect(verbs('restart', units)).toEqual(['r.service', 's.service'])
    expect(verbs('start', units)).toEqual([])
    const both = { ...units, 'r.service': up, 's.service': { ...up, RequiredBy: 't.service' }, 't.service': {} }
    expect(Object.values(active(changed(both, does('stop', 'a.service'))))).toEqual(Array(4).fill('inactive'))
    expect(active(changed(both, does('restart', 'a.service')))).toEqual({
      'a.service': 'active',
      'r.service': 'active',
      's.service': unknown,
      't.service': 'inactive',
    })
  })
  test.each(['start', 'restart'] as const)(
    'a %s stops what conflicts, either way, and what stops for its sake',
    (verb) => {
      const units = {
        'a.service': { Conflicts: 'c.service shutdown.target umount.target down.service', ConflictedBy: 'by.service' },
        'c.service': { ...up, RequiredBy: 'far.service' },
        'by.service': { ...up },
        'down.service': { RequiredBy: 'other.service' },
        'other.service': { ...up },
      }
      expect(verbs(verb, units)).toEqual(['c.service', 'by.service', 'far.service'])
      expect(active(changed(units, does(verb, 'a.service')))).toEqual({
        'a.service': 'active',
        'c.service': 'inactive',
        'by.service': 'inactive',
        'down.service': 'inactive',
        'other.service': 'active',
      })
    },
  )
  test('and so does what is started along, not what is up already, cannot start or is passed by', () => {
    const against = (name: string, more: UnitLiteral = {}) => ({ ...more, Conflicts: `not-${name}` })
    const units = {
      'a.service': { ...up, Wants: 'b.service up.service masked.service', RequiredBy: 'down.service ran.service' },
      'b.service': against('b.service', { Requires: 'c.service' }),
      'c.service': against('c.service'),
      'up.service': against('up.service', up),
      'masked.service': against('masked.service', { LoadState: 'masked' }),
      'down.service': against('down.service'),
      'ran.service': against('ran.service', up),
    }
    expect(verbs('start', units)).toEqual(['not-b.service', 'not-c.service'])
    expect(verbs('restart', units)).toEqual([
      'down.service',
      'ran.service',
      'not-ran.service',
      'not-b.service',
      'not-c.service',
    ])
    expect(verbs('stop', units)).toEqual(['down.service', 'ran.service'])
  })
})

describe('where it is not known whom a verb reaches', () => {
  const why = new Unknown('something')
  test.each<[Verb, UnitProperty]>([
    ['stop', 'RequiredBy'],
    ['stop', 'PropagatesStopTo'],
    ['restart', 'ConsistsOf'],
    ['restart', 'Conflicts'],
    ['start', 'ConflictedBy'],
  ])(
    'a %s cannot be predicted with %s unknown, and the units that are known are told all the same',
    (verb, property) => {
      const state = hostState({
        units: {
          'a.service': { ...up, RequiredBy: 'b.service', [property]: why },
          'b.service': { ...up, RequiredBy: 'c.service' },
        },
      })
      expect(() => predict(state, does(verb, 'a.service'))).toThrow(`${property} of a.service is known only after`)
      expect(() =>
        propagation(state.units, { kind: 'systemctl', verb: verb as 'stop', unit: 'a.service' }),
      ).not.toThrow()
    },
  )
  test('what such an unknown does not bear on is predicted', () => {
    const units = { 'a.service': { RequiredBy: why, PropagatesStopTo: why, WantedBy: why } }
    expect(active(changed(units, does('start', 'a.service')))).toEqual({ 'a.service': 'active' })
    const running = { 'a.service': { ...up, Wants: why, Conflicts: why, WantedBy: why } }
    expect(active(changed(running, does('stop', 'a.service')))).toEqual({ 'a.service': 'inactive' })
  })
  test('a start that may pull in anything leaves all that is down unknown, and no other', () => {
    const state = changed(
      {
        'a.service': { Wants: 'a.target' },
        'a.target': { Wants: why, MainPID: '', Result: '', NRestarts: '' },
        'down.service': { starts: 1 },
        'up.service': up,
        'masked.service': { LoadState: 'masked' },
      },
      does('start', 'a.service'),
    )
    expect(active(state)).toEqual({
      'a.service': 'active',
      'a.target': 'active',
      'down.service': unknown,
      'up.service': 'active',
      'masked.service': 'inactive',
    })
    expect(state.units.get('down.service')).toMatchObject({ exe: unknown, starts: unknown })
  })
  test('a unit of which nobody knows whether it runs is not said to have stopped or started', () => {
    const units = { 'a.service': { ...up, RequiredBy: 'b.service' }, 'b.service': { ActiveState: why, MainPID: '8' } }
    for (const verb of ['stop', 'restart'] as const) {
      const state = changed(units, does(verb, 'a.service'))
      expect([of(state, 'b.service', 'ActiveState'), of(state, 'b.service', 'MainPID')]).toEqual([unknown, unknown])
    }
  })
})

test('a restart reaches what is on its way up, and not what is on its way down', () => {
  const state = changed(
    {
      'a.service': { ...up, RequiredBy: 'b.service c.service' },
      'b.service': { ActiveState: 'activating', MainPID: '8' },
      'c.service': { ActiveState: 'deactivating', MainPID: '9' },
    },
    does('restart', 'a.service'),
  )
  expect([of(state, 'b.service', 'MainPID'), of(state, 'c.service', 'MainPID')]).toEqual([unknown, '9'])
})

test('a target has no process and no result, before and after', () => {
  const bare = { MainPID: '', ExecMainStatus: '', Result: '', NRestarts: '' }
  for (const verb of ['start', 'stop', 'restart'] as const) {
    const state = changed({ 'a.target': { ActiveState: 'active', ...bare } }, does(verb, 'a.target'))
    expect(state.units.get('a.target')?.properties).toMatchObject(bare)
  }
})

test('stop: nothing runs any more; a failed unit stays failed', () => {
  const state = changed(
    { 'a.service': up, 'b.service': { ActiveState: 'failed' } },
    does('stop', 'a.service'),
    does('stop', 'b.service'),
  )
  expect(state.units.get('a.service')).toMatchObject({
    exe: '',
    properties: { ActiveState: 'inactive', SubState: 'dead', MainPID: '0', InvocationID: unknown },
  })
  expect(of(state, 'b.service', 'ActiveState')).toBe('failed')
})

test('reset-failed: a failed unit is inactive; its starts are still in the journal; another stays as it is', () => {
  const failed = { ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', ExecMainStatus: '1', NRestarts: '3' }
  const state = changed(
    { 'a.service': { ...failed, starts: 4 }, 'b.service': up },
    does('reset-failed', 'a.service'),
    does('reset-failed', 'b.service'),
  )
  expect(state.units.get('a.service')).toMatchObject({
    starts: 4,
    properties: {
      ActiveState: 'inactive',
      SubState: 'dead',
      Result: 'success',
      NRestarts: unknown,
      ExecMainStatus: unknown,
      InvocationID: unknown,
    },
  })
  expect(state.units.get('b.service')?.properties).toMatchObject({ ActiveState: 'active', MainPID: '7' })
})

test('a verb on a unit nobody asked about changes nothing that is known', () => {
  for (const verb of ['start', 'stop', 'restart', 'enable', 'disable', 'reset-failed'] as const) {
    const state = hostState({ units: { 'a.service': up } })
    expect(predict(state, does(verb, 'b.service'))).toBe(state)
  }
})

describe('unit files', () => {
  const write = (path: string, model?: UnitModel): Change => ({
    kind: 'write',
    path,
    content: '',
    mode: 0o644,
    owner: 'root:root',
    ...(model !== undefined && { model }),
  })
  const dropIn = '/etc/systemd/system/a.service.d/50.conf'
  const units = { 'a.service': { Wants: 'x.target', NeedDaemonReload: 'yes', ...up }, 'b.service': {} }

  test('are nothing to systemd before a reload, and after it what their model says', () => {
    const model: UnitModel = {
      unit: 'a.service',
      sets: { Type: 'notify' },
      adds: { Wants: ['machines.target', 'x.target'] },
    }
    const written = changed(units, write(dropIn, model))
    expect(of(written, 'a.service', 'Wants')).toBe('x.target')
    const loaded = predict(written, reload)
    expect(loaded.units.get('a.service')?.properties).toMatchObject({
      Wants: 'x.target machines.target',
      Type: 'notify',
      NeedDaemonReload: 'no',
      MainPID: '7',
    })
    expect(loaded.units.get('a.service')).not.toHaveProperty('pending')
    expect(of(predict(loaded, reload), 'a.service', 'Wants')).toBe('x.target machines.target')
  })
  test.each([
    dropIn,
    '/etc/systemd/system/a.service',
    '/run/systemd/system/a.service',
    '/usr/lib/systemd/system/a.service',
    '/usr/local/lib/systemd/system/a.service.wants/c.service',
    '/etc/systemd/system/z.target.requires/a.service',
  ])('%s without a model makes what a.service loads unknown, and not what it does', (path) => {
    const state = changed(units, write(path), reload)
    expect(state.units.get('a.service')?.properties).toMatchObject({
      Wants: unknown,
      ExecStart: unknown,
      LoadState: unknown,
      ActiveState: 'active',
      MainPID: '7',
    })
    expect(state.units.get('a.service')?.exe).toBe('/bin/a')
    expect(of(state, 'b.service', 'Wants')).toBe('')
  })
  test.each([
    '/etc/systemd/system/systemd-nspawn@kube1.service',
    '/etc/systemd/system/systemd-nspawn@.service',
    '/etc/systemd/system/systemd-nspawn@kube1.service.d/x.conf',
    '/etc/systemd/system/systemd-nspawn@.service.d/x.conf',
    '/etc/systemd/system/systemd-nspawn@.service.d',
    '/etc/systemd/system/systemd-@.service.d/x.conf',
    '/run/systemd/system/systemd-@kube1.service.d/x.conf',
    '/usr/lib/systemd/system/service.d/x.conf',
    '/etc/systemd/system/service.d',
    '/etc/systemd/system/systemd-nspawn@.service.requires/x.service',
    '/etc/systemd/system/machines.target.wants/systemd-nspawn@kube1.service',
    '/etc/systemd/system',
    '/usr/lib/systemd',
  ])('%s without a model makes the instances it is for unknown', (path) => {
    const instance = 'systemd-nspawn@kube1.service'
    const written = changed({ [instance]: { Wants: 'x.target', ...up } }, write(path))
    expect([of(written, instance, 'Wants'), of(written, instance, 'NeedDaemonReload')]).toEqual(['x.target', unknown])
    const loaded = predict(written, reload).units.get(instance)?.properties
    expect(loaded).toMatchObject({ Wants: unknown, ExecStart: unknown, ActiveState: 'active', NeedDaemonReload: 'no' })
  })
  test.each([
    ['foo-bar-baz.service', 'foo-.service.d/x.conf', true],
    ['foo-bar-baz.service', 'foo-bar-.service.d/x.conf', true],
    ['foo-bar-baz.service', 'foo-bar.service.d/x.conf', false],
    ['foo-bar-baz.service', 'foo-.socket.d/x.conf', false],
    ['foo-bar-baz.service', 'foo-.service', false],
    ['foo-bar-baz.service', 'bar-.service.d/x.conf', false],
    ['foo.service', 'foo-.service.d/x.conf', false],
    ['foo@x.service', 'foo@y.service.d/x.conf', false],
    ['foo@x.service', 'foo@y.service', false],
    ['foo@x.service', 'foo.service.d/x.conf', false],
    ['foo.target', 'service.d/x.conf', false],
    ['foo.target', 'target.d/x.conf', true],
    ['alias.service', 'real.service.d/x.conf', true],
  ])('of %s, %s is a file: %s', (name, path, isFile) => {
    const units = { [name]: { Wants: 'x.target', ...(name === 'alias.service' && { Id: 'real.service' }) } }
    const loaded = changed(units, write(`/etc/systemd/system/${path}`), reload)
    expect(of(loaded, name, 'Wants')).toEqual(isFile ? unknown : 'x.target')
  })
  test.each(unitDirectories)('below %s a task has them loaded, and that is predicted', (directory) => {
    const path = `${directory}/a.service`
    expect(reloadFor(path)).toEqual([reload])
    expect(of([write(path), ...reloadFor(path)].reduce(predict, hostState({ units })), 'a.service', 'Wants')).toEqual(
      unknown,
    )
  })
  test('without a model they may name any other unit, which changes nothing that unit says of itself', () => {
    const state = changed(
      { 'a.service': { ...up, Wants: 'x.target', RequiredBy: 'r.service' } },
      write('/etc/systemd/system/c.service'),
      reload,
    )
    expect(state.units.get('a.service')?.properties).toMatchObject({
      RequiredBy: unknown,
      BoundBy: unknown,
      ConsistsOf: unknown,
      RequisiteOf: unknown,
      PropagatesStopTo: unknown,
      ConflictedBy: unknown,
      Conflicts: '',
      Wants: 'x.target',
      LoadState: 'loaded',
      MainPID: '7',
      NeedDaemonReload: 'no',
    })
    expect(state.units.get('a.service')?.exe).toBe('/bin/a')
  })
  test('with a model they name whom they say, and systemd tells it of both', () => {
    const model: UnitModel = {
      unit: 'a.service',
      adds: { Wants: ['b.service'], Requires: ['c.service', 'far.service'] },
    }
    const state = changed({ ...units, 'c.service': { RequiredBy: 'r.service' } }, write(dropIn, model), reload)
    expect([of(state, 'b.service', 'WantedBy'), of(state, 'c.service', 'RequiredBy')]).toEqual([
      'a.service',
      'r.service a.service',
    ])
    expect([of(state, 'b.service', 'RequiredBy'), of(state, 'a.service', 'ConsistsOf')]).toEqual(['', ''])
    expect(of(state, 'a.service', 'DropInPaths')).toEqual(unknown)
  })
  test('what a change only spoils counts as written', () => {
    const run: Change = { kind: 'run', argv: ['x'], timeoutMs: 1, spoils: [`path:${dropIn}`] }
    expect(of(changed(units, run), 'a.service', 'Wants')).toBe('x.target')
    expect(of(changed(units, run, reload), 'a.service', 'Wants')).toEqual(unknown)
  })
  test.each([
    '/etc/systemd/system.conf',
    '/srv/a.service',
    '/etc/systemd/system/deep/a.service.d/x.conf',
    '/etc/systemd/system/c.service',
  ])('%s is none of its files', (path) => {
    expect(of(changed(units, write(path), reload), 'a.service', 'Wants')).toBe('x.target')
  })
  test.each<[string, Change]>([
    ['a link', { kind: 'link', path: '/etc/systemd/system/a.service', target: '/dev/null' }],
    ['a removal', { kind: 'remove', path: dropIn, recurse: false }],
    ['the removal of all drop-ins', { kind: 'remove', path: '/etc/systemd/system/a.service.d', recurse: true }],
  ])('%s counts as well', (_, change) =>
    expect(of(changed(units, change, reload), 'a.service', 'Wants')).toEqual(unknown),
  )
  test('a model for another unit than the file is of says nothing about that one', () => {
    expect(of(changed(units, write(dropIn, { unit: 'b.service' }), reload), 'a.service', 'Wants')).toEqual(unknown)
  })
  test('what a drop-in adds to the unknown is unknown', () => {
    const model: UnitModel = { unit: 'a.service', adds: { Wants: ['y'] } }
    expect(
      of(changed(units, write('/etc/systemd/system/a.service'), write(dropIn, model), reload), 'a.service', 'Wants'),
    ).toEqual(unknown)
  })
})

test('enable and disable reload, say so of the unit, and leave its links and the targets unknown', () => {
  for (const [verb, word] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    const wants = '/etc/systemd/system/multi-user.target.wants'
    const before = hostState({
      units: {
        'a.service': { NeedDaemonReload: 'yes', ...up },
        'multi-user.target': { Wants: 'x' },
        'b.service': { Wants: 'y', After: 'y' },
      },
      paths: {
        [wants]: { dir: ['x.service'] },
        [`${wants}/a.service`]: 'absent',
        [`${wants}/x.service`]: { link: '/x' },
      },
    })
    const state = predict(before, does(verb, 'a.service'))
    expect(state.units.get('a.service')?.properties).toMatchObject({
      UnitFileState: word,
      NeedDaemonReload: 'no',
      WantedBy: unknown,
      MainPID: '7',
    })
    for (const property of ['Wants', 'After'] as const)
      expect([of(state, 'multi-user.target', property), of(state, 'b.service', property)]).toEqual([unknown, 'y'])
    expect(lookUp(state.tree, wants)).toMatchObject({ entries: unknown })
    expect(lookUp(state.tree, `${wants}/a.service`)).toEqual(unknown)
    expect(lookUp(state.tree, `${wants}/x.service`)).toEqual({ type: 'symlink', target: '/x' })
  }
})
