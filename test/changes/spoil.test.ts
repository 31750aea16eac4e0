import { expect, test } from 'vitest'
import { spoil } from '../../src/changes/spoil.ts'
import { commandKey, type Fact, factKey, probeKey } from '../../src/facts/fact.ts'
import type { HostState } from '../../src/facts/state.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { hostState } from '../tasks/host-state.ts'

const state = hostState({
  paths: {
    '/a': { dir: ['b', 'bc', 'l'] },
    '/a/b/c': { file: '' },
    '/a/bc': { file: '' },
    '/a/l': { link: '/x' },
    '/x': { dir: true },
  },
  units: { 'a.service': { starts: 1 }, 'b.service': {} },
  packages: { p: '1' },
  programs: { p: '/p' },
  ports: { 1: null },
  commands: [[['c'], {}]],
  probes: { swap: '' },
})
const unknown = new Unknown('why')

test.each<[Fact, (state: HostState) => unknown]>([
  [{ kind: 'package', name: 'p' }, ({ packages }) => packages.get('p')],
  [{ kind: 'program', name: 'p' }, ({ programs }) => programs.get('p')],
  [{ kind: 'port', port: 1 }, ({ ports }) => ports.get(1)],
  [{ kind: 'command', argv: ['c'] }, ({ commands }) => commands.get(commandKey(['c']))],
  [{ kind: 'probe', name: 'swap' }, ({ probes }) => probes.get(probeKey('swap', []))],
  [{ kind: 'unit', name: 'a.service' }, ({ units }) => units.get('a.service')?.properties.ActiveState],
  [{ kind: 'unit', name: 'a.service' }, ({ units }) => units.get('a.service')?.exe],
  [{ kind: 'unit', name: 'a.service' }, ({ units }) => units.get('a.service')?.starts],
  [{ kind: 'path', path: '/a/b' }, ({ tree }) => lookUp(tree, '/a/b')],
  [{ kind: 'path', path: '/a/b' }, ({ tree }) => lookUp(tree, '/a/b/c')],
])('after spoiling %j it is unknown', (fact, read) => {
  expect(read(state)).not.toEqual(unknown)
  expect(read(spoil(state, factKey(fact), 'why'))).toEqual(unknown)
})

test('a path spoils no name that only begins like it, and the list it stands in', () => {
  const { tree } = spoil(state, 'path:/a/b', 'why')
  expect(lookUp(tree, '/a/bc')).toMatchObject({ type: 'file' })
  expect(lookUp(tree, '/a')).toMatchObject({ type: 'directory', entries: unknown })
})

test('a link is spoilt itself, and not what it leads to', () => {
  const { tree } = spoil(state, 'path:/a/l', 'why')
  expect(lookUp(tree, '/a/l')).toEqual(unknown)
  expect(lookUp(tree, '/x')).toMatchObject({ type: 'directory' })
})

test('what nobody asked about cannot be spoilt', () => {
  for (const key of ['unit:z.service', 'package:z', 'program:z', 'port:9', 'command:["z"]', 'probe:["swap","z"]'])
    expect(spoil(state, key, 'why')).toEqual(state)
  expect(spoil(state, 'unit:b.service', 'why').units.get('b.service')).not.toHaveProperty('starts')
})

test('below what is unknown already nothing changes, and what is no key is a fault', () => {
  const spoilt = spoil(state, 'path:/a', 'first')
  expect(spoil(spoilt, 'path:/a/b', 'second')).toBe(spoilt)
  expect(() => spoil(state, 'nothing', 'why')).toThrow('not a fact key')
})
