import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { predict } from '../../src/changes/predict.ts'
import { commandKey } from '../../src/facts/fact.ts'
import type { HostState } from '../../src/facts/state.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { ReadsUnknown, Unknown } from '../../src/facts/unknown.ts'
import { Secret } from '../../src/secret.ts'
import { hostState } from '../tasks/host-state.ts'

const root = { mode: 0o644, owner: 'root:root' }
const changed = (state: HostState, ...changes: Change[]): HostState => changes.reduce(predict, state)
const at = (state: HostState, path: string, follow = false) => lookUp(state.tree, path, follow)

describe('what a change makes', () => {
  test('write: the file with its digest, beside what was there', () => {
    const state = changed(hostState({ paths: { '/etc': { dir: ['a'] } } }), {
      kind: 'write',
      path: '/etc/x',
      content: 'é',
      mode: 0o600,
      owner: 'root:adm',
    })
    expect(at(state, '/etc/x')).toEqual({
      type: 'file',
      mode: 0o600,
      uid: 0,
      gid: -1,
      user: 'root',
      group: 'adm',
      size: 2,
      content: new TextEncoder().encode('é'),
      sha256: '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c',
    })
    expect(at(state, '/etc')).toMatchObject({ entries: ['a', 'x'] })
  })
  test('write: a secret is known to later steps as any other content', () => {
    const state = changed(hostState({ paths: { '/etc': { dir: [] } } }), {
      kind: 'write',
      path: '/etc/x',
      content: new Secret('a'),
      ...root,
    })
    expect(at(state, '/etc/x')).toMatchObject({ size: 1, content: new TextEncoder().encode('a') })
  })
  test('write: in place of a link, not where it leads', () => {
    const state = changed(hostState({ paths: { '/l': { link: '/f' }, '/f': { file: 'old' } } }), {
      kind: 'write',
      path: '/l',
      content: 'new',
      ...root,
    })
    expect(at(state, '/l')).toMatchObject({ type: 'file', size: 3 })
    expect(at(state, '/f')).toMatchObject({ content: new TextEncoder().encode('old') })
  })
  test('link: names below it are names of what it leads to', () => {
    const state = changed(hostState({ paths: { '/usr/local/x': { file: 'a' } } }), {
      kind: 'link',
      path: '/opt',
      target: 'usr/local',
    })
    expect(at(state, '/opt')).toEqual({ type: 'symlink', target: 'usr/local' })
    expect(at(state, '/opt/x')).toMatchObject({ type: 'file', size: 1 })
  })
  test('link: to where nobody looked is unknown, to itself is nothing', () => {
    const state = hostState({ paths: { '/': { dir: true }, '/a': 'absent' } })
    expect(at(changed(state, { kind: 'link', path: '/a', target: '/far/off' }), '/a', true)).toBeInstanceOf(Unknown)
    const loop = changed(state, { kind: 'link', path: '/a', target: 'a' })
    expect(at(loop, '/a', true)).toEqual({ type: 'absent' })
    expect([...loop.tree.nodes.keys()]).toEqual(['/', '/a'])
  })
  test('directory: it is new, so nothing is in it', () => {
    const state = changed(hostState({ paths: { '/': { dir: true } } }), {
      kind: 'directory',
      path: '/d',
      mode: 0o2750,
      owner: '12:34',
    })
    expect(at(state, '/d')).toEqual({
      type: 'directory',
      mode: 0o2750,
      uid: 12,
      gid: 34,
      user: '12',
      group: '34',
      entries: [],
    })
    expect(at(state, '/d/x/y')).toEqual({ type: 'absent' })
  })
  test('attributes: of a file or directory, with all that is in it', () => {
    const before = hostState({ paths: { '/d': { dir: ['f'] }, '/d/f': { file: 'a' }, '/l': { link: 'd' } } })
    const change = (path: string): Change => ({ kind: 'attributes', path, mode: 0o700, owner: 'a:b' })
    const state = changed(before, change('/d'), change('/d/f'), change('/l'), change('/none'))
    expect(at(state, '/d')).toMatchObject({ mode: 0o700, user: 'a', entries: ['f'] })
    expect(at(state, '/d/f')).toMatchObject({ mode: 0o700, group: 'b', size: 1 })
    expect(at(state, '/l')).toEqual({ type: 'symlink', target: 'd' })
  })
  test('remove: with all that is below, and off the list', () => {
    const state = changed(hostState({ paths: { '/d': { dir: ['e'] }, '/d/e/f': { file: '' } } }), {
      kind: 'remove',
      path: '/d/e',
      recurse: true,
    })
    expect([at(state, '/d/e'), at(state, '/d/e/f')]).toEqual([{ type: 'absent' }, { type: 'absent' }])
    expect(at(state, '/d')).toMatchObject({ entries: [] })
  })
  test('await: nothing', () => {
    const state = hostState({ units: { 'a.service': {} } })
    expect(
      changed(state, { kind: 'await', condition: { unit: 'a.service', is: 'active' }, withinMs: 1, stableMs: 0 }),
    ).toBe(state)
  })
  test('run: nothing that can be known, so what commands said is unknown', () => {
    const state = changed(hostState({ commands: [[['a'], {}]] }), {
      kind: 'run',
      argv: ['b'],
      timeoutMs: 1,
      spoils: [],
    })
    expect(state.commands.get(commandKey(['a']))).toBeInstanceOf(Unknown)
  })
})

test('where the place of a change is unknown, so is the change', () => {
  const state = hostState({ paths: { '/x': new Unknown('start of a.service') } })
  expect(() => changed(state, { kind: 'write', path: '/x/y', content: '', ...root })).toThrow(ReadsUnknown)
})

test('what a change spoils is unknown after it, and only that', () => {
  const before = hostState({
    paths: { '/a/b': { file: '' }, '/a/c': { file: '' } },
    units: { 'a.service': {}, 'b.service': {} },
  })
  const state = changed(before, {
    kind: 'systemctl',
    verb: 'start',
    unit: 'b.service',
    spoils: ['path:/a/b', 'unit:a.service'],
  })
  expect(at(state, '/a/b')).toEqual(new Unknown('systemctl start'))
  expect(at(state, '/a/c')).toMatchObject({ type: 'file' })
  expect(state.units.get('a.service')?.properties.LoadState).toBeInstanceOf(Unknown)
  expect(state.units.get('b.service')?.properties.ActiveState).toBe('active')
})

test('the state before is left as it was', () => {
  const state = hostState({ paths: { '/etc': { dir: ['x'] }, '/etc/x': { file: '' } }, units: { 'a.service': {} } })
  const copy = structuredClone({ nodes: state.tree.nodes, units: state.units })
  changed(
    state,
    { kind: 'remove', path: '/etc', recurse: true },
    { kind: 'systemctl', verb: 'start', unit: 'a.service', spoils: ['unit:a.service'] },
    { kind: 'package', install: ['a'], manager: 'apt' },
  )
  expect({ nodes: state.tree.nodes, units: state.units }).toEqual(copy)
})
