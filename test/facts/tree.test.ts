import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { absent, type KnownNode, type Node } from '../../src/facts/node.ts'
import {
  ancestry,
  canonical,
  isCleanPath,
  join,
  lookUp,
  nameOf,
  nowhere,
  parentOf,
  place,
  renamed,
  type Tree,
} from '../../src/facts/tree.ts'
import { ReadsUnknown, Unknown } from '../../src/facts/unknown.ts'
import { type ModelNode, modelOf } from './file-system.ts'

const owner = { mode: 0o755, uid: 0, gid: 0, user: 'root', group: 'root' }
const dir = (...entries: string[]): Node => ({ type: 'directory', ...owner, entries })
const unlisted: Node = { type: 'directory', ...owner }
const file: Node = { type: 'file', ...owner, size: 0 }
const link = (target: string): Node => ({ type: 'symlink', target })
const tree = (nodes: Record<string, KnownNode>): Tree => ({
  nodes: new Map(Object.entries({ '/': unlisted, ...nodes })),
})
const unknown = new Unknown('a test')

test.each([
  ['/', '/', ''],
  ['/a', '/', 'a'],
  ['/a/b', '/a', 'b'],
])('the parent of %s is %s, its name %j', (path, parent, name) => {
  expect([parentOf(path), nameOf(path)]).toEqual([parent, name])
  if (path !== '/') expect(join(parent, name)).toBe(path)
})

test('ancestry is the way from the root', () => {
  expect(ancestry('/')).toEqual(['/'])
  expect(ancestry('/a/b c')).toEqual(['/', '/a', '/a/b c'])
})

test.each(['/', '/a', '/a/..b', '/a/b\nc', '/-x', '/*'])('%j is a clean path', (path) =>
  expect(isCleanPath(path)).toBe(true),
)
test.each(['', 'a', '/a/', '//a', '/a//b', '/a/../b', '/./a', '/a\0b', '/..'])('%j is not', (path) =>
  expect(isCleanPath(path)).toBe(false),
)

describe('canonical', () => {
  const linked = tree({
    '/opt': unlisted,
    '/opt/root': link('/usr/local'),
    '/usr': unlisted,
    '/usr/local': unlisted,
    '/usr/local/lib': link('lib64'),
    '/usr/local/lib64': unlisted,
    '/usr/local/up': link('../../opt'),
    '/file': file,
    '/a': link('b'),
    '/b': link('a'),
    '/odd': link('usr//local/./lib/'),
    '/through-file': link('file/../usr'),
    '/slash-on-file': link('file/'),
  })
  test.each([
    ['/opt/root/x', '/usr/local/x', '/usr/local/x'],
    ['/opt/root', '/opt/root', '/usr/local'],
    ['/opt/root/lib/x', '/usr/local/lib64/x', '/usr/local/lib64/x'],
    ['/opt/root/lib', '/usr/local/lib', '/usr/local/lib64'],
    ['/usr/local/up/root/up', '/usr/local/up', '/opt'],
    ['/odd', '/odd', '/usr/local/lib64'],
    ['/odd/x', '/usr/local/lib64/x', '/usr/local/lib64/x'],
    ['/a', '/a', nowhere],
    ['/a/x', nowhere, nowhere],
    ['/through-file', '/through-file', nowhere],
    ['/slash-on-file', '/slash-on-file', nowhere],
    ['/nobody/looked', '/nobody/looked', '/nobody/looked'],
  ])('%s lies at %j, followed at %j', (path, at, followed) => {
    expect(canonical(linked, path)).toBe(at)
    expect(canonical(linked, path, true)).toBe(followed)
  })
  test('a chain of forty links is followed, one of forty-one is a loop, as for the kernel', () => {
    const chain = tree(
      Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`/l${index}`, link(`l${index + 1}`)])),
    )
    expect(canonical(chain, '/l1', true)).toBe('/l41')
    expect(canonical(chain, '/l0', true)).toBe(nowhere)
  })
  test('below something unknown the place is unknown', () => {
    expect(canonical(tree({ '/x': unknown }), '/x/y')).toBe(unknown)
    expect(canonical(tree({ '/x': link('/y'), '/y': unknown }), '/x/z')).toBe(unknown)
  })
})

describe('lookUp', () => {
  test('a path under something absent, a file or a loop is absent', () => {
    const state = tree({ '/no': absent, '/file': file, '/loop': link('loop') })
    for (const path of ['/no/a/b', '/file/a', '/loop/a']) expect(lookUp(state, path)).toEqual(absent)
    expect(lookUp(state, '/loop', true)).toEqual(absent)
    expect(lookUp(state, '/loop')).toEqual(link('loop'))
  })
  test('a directory whose names are known holds nothing else', () => {
    const state = tree({ '/d': dir('a') })
    expect(lookUp(state, '/d/b')).toEqual(absent)
    expect(lookUp(state, '/d/b/c')).toEqual(absent)
    expect(lookUp(state, '/d/a')).toBeUndefined()
    expect(lookUp(state, '/d/a/c')).toBeUndefined()
  })
  test('where nobody looked it says so', () => expect(lookUp(tree({ '/d': unlisted }), '/d/x')).toBeUndefined())
  test('an unreadable or unknown directory hides what is in it', () => {
    const hidden: Node = { type: 'unreadable', why: 'no' }
    expect(lookUp(tree({ '/d': hidden }), '/d/x/y')).toEqual(hidden)
    expect(lookUp(tree({ '/d': unknown }), '/d/x/y')).toBe(unknown)
  })
})

describe('place', () => {
  test('a removed directory takes its children along, and its parent lists it no more', () => {
    const state = place(tree({ '/d': dir('e', 'x'), '/d/e': dir('f'), '/d/e/f': file, '/d/ef': file }), '/d/e', absent)
    expect([...state.nodes.keys()]).toEqual(['/', '/d', '/d/e', '/d/ef'])
    expect(state.nodes.get('/d')).toEqual(dir('x'))
    expect(lookUp(state, '/d/e/f')).toEqual(absent)
  })
  test('through a link above it lands where it really is', () => {
    const state = place(tree({ '/opt': link('/usr'), '/usr': dir() }), '/opt/x', file)
    expect(state.nodes.get('/usr/x')).toEqual(file)
    expect(state.nodes.get('/usr')).toEqual(dir('x'))
    expect(lookUp(state, '/opt/x')).toEqual(file)
  })
  test('a link at the end is replaced, not followed', () => {
    const state = place(tree({ '/a': link('/b'), '/b': file }), '/a', file)
    expect(state.nodes.get('/a')).toEqual(file)
  })
  test('a directory that stays one keeps its children', () => {
    const state = place(tree({ '/d': dir('a'), '/d/a': file }), '/d', { ...dir('a'), mode: 0o700 } as Node)
    expect(lookUp(state, '/d/a')).toEqual(file)
  })
  test('names are listed in order and once; an unknown node makes the list unknown', () => {
    const state = place(place(tree({ '/d': dir('m') }), '/d/z', file), '/d/a', file)
    expect(place(state, '/d/a', link('z')).nodes.get('/d')).toEqual(dir('a', 'm', 'z'))
    expect(place(state, '/d/a', unknown).nodes.get('/d')).toEqual({ ...dir(), entries: unknown })
  })
  test('in a loop, or below the unknown, there is no place', () => {
    expect(() => place(tree({ '/a': link('a') }), '/a/x', file)).toThrow('leads nowhere')
    expect(() => place(tree({ '/a': unknown }), '/a/x', file)).toThrow(ReadsUnknown)
  })
  test('it changes no tree but its own', () => {
    const before = tree({ '/d': dir() })
    const copy = new Map(before.nodes)
    place(before, '/d/x', file)
    expect(before.nodes).toEqual(copy)
  })
})

describe('renamed', () => {
  test('what lies below comes along, the parents list the new name, and nothing is left at the old one', () => {
    const before = tree({
      '/d': dir('s'),
      '/d/s': dir('x', 'l'),
      '/d/s/x': file,
      '/d/s/l': link('/d/r/x'),
      '/d/st': file,
    })
    const state = renamed(before, '/d/s', '/d/r')
    expect([...state.nodes.keys()].sort()).toEqual(['/', '/d', '/d/r', '/d/r/l', '/d/r/x', '/d/s', '/d/st'])
    expect(state.nodes.get('/d')).toEqual(dir('r'))
    expect(lookUp(state, '/d/r/l', true)).toEqual(file)
    expect(lookUp(state, '/d/s/x')).toEqual(absent)
  })
  test('through links above both it lands where it really is; a link itself is renamed, not what it leads to', () => {
    const state = renamed(
      tree({ '/opt': link('/v'), '/v': dir('a'), '/v/a': link('/t'), '/t': file }),
      '/opt/a',
      '/opt/b',
    )
    expect(state.nodes.get('/v/b')).toEqual(link('/t'))
    expect(state.nodes.get('/t')).toEqual(file)
    expect(lookUp(state, '/opt/a')).toEqual(absent)
  })
  test('what is unknown below stays so under the new name; nothing is renamed that nobody asked about', () => {
    expect(lookUp(renamed(tree({ '/a': dir(), '/a/x': unknown }), '/a', '/b'), '/b/x')).toBe(unknown)
    expect(() => renamed({ nodes: new Map() }, '/a', '/b')).toThrow('nobody asked')
  })
})

describe('agrees with a model of a file system', () => {
  const names = ['a', 'b', 'c']
  const paths = names.flatMap((one) => [
    `/${one}`,
    ...names.flatMap((two) => [`/${one}/${two}`, ...names.map((three) => `/${one}/${two}/${three}`)]),
  ])
  const step = fc.constantFrom('a', 'b', 'c', '..', '.', '')
  const target = fc.tuple(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 4 })).map(([isAbsolute, steps]) => {
    const text = steps.join('/').replace(/^\/+/, '')
    return isAbsolute || text === '' ? `/${text}` : text
  })
  const change = fc.record({
    path: fc.constantFrom(...paths),
    node: fc.oneof(
      { weight: 2, arbitrary: fc.constant<ModelNode>({ file: true }) },
      { weight: 4, arbitrary: fc.constant<ModelNode>({ dir: {} }) },
      { weight: 4, arbitrary: target.map((link): ModelNode => ({ link })) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  })
  const nodeOf = (node: ModelNode | null): Node =>
    node === null ? absent : 'file' in node ? file : 'dir' in node ? dir() : link(node.link)

  test('whatever is put, replaced and removed, and however links lead', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 14 }), (changes) => {
        const model = modelOf()
        let seen = tree({ '/': dir() })
        for (const { path, node } of changes) {
          // A task plans nothing below what is no directory, and no directory onto another.
          if (model.kind(parentOf(path), true) !== 'directory') continue
          if (node !== null && 'dir' in node && model.kind(path, false) === 'directory') continue
          model.put(path, node)
          seen = place(seen, path, nodeOf(node))
        }
        for (const path of paths) {
          for (const follow of [false, true]) {
            const found = lookUp(seen, path, follow)
            expect([path, follow, found instanceof Unknown ? 'unknown' : found?.type]).toEqual([
              path,
              follow,
              model.kind(path, follow),
            ])
            if (model.kind(path, follow) !== 'absent')
              expect(canonical(seen, path, follow)).toBe(model.real(path, follow))
          }
          const node = lookUp(seen, path, true)
          if (node !== undefined && 'type' in node && node.type === 'directory')
            expect(node.entries).toEqual(model.list(path))
        }
      }),
      { numRuns: 200 },
    )
  })
})
