import { describe, expect, test } from 'vitest'
import type { HostState } from '../../src/facts/state.ts'
import { ReadsUnknown, Unknown, Unreadable } from '../../src/facts/unknown.ts'
import { type HostView, viewOf } from '../../src/facts/view.ts'
import { type HostLiteral, hostState } from '../tasks/host-state.ts'

const unknown = new Unknown('restart of a.service')
const view = (literal: HostLiteral = {}, more: Partial<HostState> = {}): HostView =>
  viewOf({ ...hostState(literal), ...more })

const readers: [name: string, read: (view: HostView) => unknown, literal: HostLiteral][] = [
  ['node', (view) => view.node('/x'), { paths: { '/x': unknown } }],
  ['target', (view) => view.target('/l'), { paths: { '/l': { link: '/x' }, '/x': unknown } }],
  ['realPath', (view) => view.realPath('/x/y'), { paths: { '/x': unknown } }],
  ['text', (view) => view.text('/x'), { paths: { '/x': unknown } }],
  ['sha256', (view) => view.sha256('/x'), { paths: { '/x': unknown } }],
  ['entries', (view) => view.entries('/x'), { paths: { '/x': unknown } }],
  ['property', (view) => view.unit('a.service').get('MainPID'), { units: { 'a.service': { MainPID: unknown } } }],
  ['list', (view) => view.unit('a.service').list('Wants'), { units: { 'a.service': { Wants: unknown } } }],
  ['exe', (view) => view.unit('a.service').exe, { units: { 'a.service': { exe: unknown } } }],
  ['starts', (view) => view.unit('a.service').starts, { units: { 'a.service': { starts: unknown } } }],
  ['isActive', (view) => view.unit('a.service').isActive, { units: { 'a.service': { ActiveState: unknown } } }],
  ['package', (view) => view.package('p'), { packages: { p: unknown } }],
  ['program', (view) => view.program('p'), { programs: { p: unknown } }],
  ['command', (view) => view.command(['c']), { commands: [[['c'], unknown]] }],
  ['port', (view) => view.port(1), { ports: { 1: unknown } }],
]
test.each(readers)('%s of what nobody can know yet ends the segment, with the reason', (_, read, literal) => {
  expect(() => read(view(literal))).toThrow(ReadsUnknown)
  expect(() => read(view(literal))).toThrow('restart of a.service')
})
test.each([
  ...readers,
  ['mount', (view: HostView) => view.mount('/x'), {}],
  ['probe', (view: HostView) => view.probe('swap'), {}],
] as typeof readers)(
  '%s of what no fact asked for is a fault of the task, and no property of the host',
  (name, read) => {
    if (name === 'realPath') return
    const hidden = view({ paths: { '/': { dir: true } } })
    expect(() => read(hidden)).toThrow('which its facts() did not ask for')
    expect(() => read(hidden)).not.toThrow(ReadsUnknown)
    expect(() => read(hidden)).not.toThrow(Unreadable)
  },
)

describe('what the host would not show blocks', () => {
  test.each(['node', 'target', 'text', 'sha256', 'entries'] as const)('%s', (name) => {
    expect(() => view({ paths: { '/x': { unreadable: 'no right' } } })[name]('/x')).toThrow(Unreadable)
  })
  test('below a directory that is closed', () => {
    expect(() => view({ paths: { '/x': { unreadable: 'no right' } } }).node('/x/y')).toThrow(
      '/x/y cannot be read: no right',
    )
  })
  test('every unit, where systemd does not answer', () => {
    expect(() => view({ noSystemd: 'no bus' }).unit('a.service')).toThrow('a.service cannot be read: no bus')
  })
  test('a process whose program only root may see', () => {
    expect(() => view({ units: { 'a.service': { exe: '?' } } }).unit('a.service').exe).toThrow(Unreadable)
  })
  test('a file system', () => {
    expect(() => view({}, { mounts: new Map([['/x', { unreadable: 'remote' }]]) }).mount('/x')).toThrow(Unreadable)
  })
})

test('links are followed where the name says so', () => {
  const { node, target, text, sha256, entries, realPath } = view({
    paths: {
      '/f': { file: 'text' },
      '/l': { link: 'f' },
      '/d': { dir: ['a'] },
      '/ld': { link: '/d' },
      '/dangling': { link: 'nothing' },
      '/nothing': 'absent',
    },
  })
  expect([node('/l').type, target('/l').type, text('/l'), entries('/ld'), realPath('/ld/a')]).toEqual([
    'symlink',
    'file',
    'text',
    ['a'],
    '/d/a',
  ])
  expect(sha256('/l')).toMatch(/^[0-9a-f]{64}$/)
  expect([target('/dangling').type, text('/dangling'), sha256('/dangling'), entries('/dangling')]).toEqual([
    'absent',
    null,
    null,
    [],
  ])
  expect([text('/d'), entries('/f')]).toEqual([null, []])
})

test('a byte order mark is a part of the text', () =>
  expect(view({ paths: { '/f': { file: '\ufeffx' } } }).text('/f')).toBe('\ufeffx'))

test('units', () => {
  const { unit, knowsUnit } = view({
    units: { 'a.service': { Wants: ' b.target  c.service\n', ActiveState: 'active', exe: '/bin/a', starts: 2 } },
  })
  expect(unit('a.service')).toMatchObject({
    name: 'a.service',
    exe: '/bin/a',
    starts: 2,
    isActive: true,
    isLoaded: true,
  })
  expect(unit('a.service').list('Wants')).toEqual(['b.target', 'c.service'])
  expect(unit('a.service').list('After')).toEqual([])
  expect([knowsUnit('a.service'), knowsUnit('b.service')]).toEqual([true, false])
})
