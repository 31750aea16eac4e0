import { expect, test } from 'vitest'
import type { Change, Expectation } from '../../src/changes/change.ts'
import { expectationsOf, unitAsSeen } from '../../src/changes/expect.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { hostState, type PathLiteral } from '../tasks/host-state.ts'

const unknown = new Unknown('x')
const sha256 = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'

test.each<[PathLiteral, Expectation[]]>([
  ['absent', [{ path: '/x', is: 'absent' }]],
  ['other', [{ path: '/x', is: 'other' }]],
  [{ file: 'a' }, [{ path: '/x', is: 'file', sha256 }]],
  [{ dir: true }, [{ path: '/x', is: 'directory' }]],
  [{ link: 'y' }, [{ path: '/x', is: 'symlink', target: 'y' }]],
  [{ unreadable: 'no' }, []],
  [unknown, []],
])('what is overwritten must still be %j', (literal, expected) => {
  const state = hostState({ paths: { '/x': literal } })
  const at = { path: '/x', mode: 0, owner: 'root:root' }
  const changes: Change[] = [
    { kind: 'write', content: '', ...at },
    { kind: 'link', path: '/x', target: 'z' },
    { kind: 'directory', ...at },
    { kind: 'attributes', ...at },
    { kind: 'remove', path: '/x', recurse: true },
  ]
  for (const change of changes) expect(expectationsOf(state, change)).toEqual(expected)
})

test('a digest that is not known yet is not expected', () => {
  const state = hostState({ paths: { '/x': { file: 'a' } } })
  const nodes = new Map(state.tree.nodes).set('/x', {
    ...(state.tree.nodes.get('/x') as object),
    sha256: unknown,
  } as never)
  expect(expectationsOf({ ...state, tree: { nodes } }, { kind: 'remove', path: '/x', recurse: false })).toEqual([
    { path: '/x', is: 'file' },
  ])
})

test.each([
  ['active', true],
  ['inactive', true],
  ['failed', true],
  ['activating', false],
  ['reloading', false],
  [unknown, false],
] as const)('a unit that is %s is expected to be so still: %s', (ActiveState, isExpected) => {
  const state = hostState({ units: { 'a.service': { ActiveState } } })
  const expected = isExpected ? [{ unit: 'a.service', property: 'ActiveState', value: ActiveState }] : []
  expect(expectationsOf(state, { kind: 'systemctl', verb: 'restart', unit: 'a.service' })).toEqual(expected)
  expect(unitAsSeen(state, 'a.service')).toEqual(expected)
})

test('a unit nobody asked about, a reload, a wait, a command and packages expect nothing by themselves', () => {
  const changes: Change[] = [
    { kind: 'systemctl', verb: 'start', unit: 'a.service' },
    { kind: 'systemctl', verb: 'daemon-reload' },
    { kind: 'await', condition: { unit: 'a.service', is: 'active' }, withinMs: 1, stableMs: 0 },
    { kind: 'run', argv: ['x'], timeoutMs: 1, spoils: [] },
    { kind: 'package', install: ['x'], manager: 'apt' },
  ]
  const relies: Expectation[] = [{ path: '/y', is: 'absent' }]
  for (const change of changes) {
    expect(expectationsOf(hostState(), change)).toEqual([])
    expect(expectationsOf(hostState(), { ...change, relies })).toEqual(relies)
  }
})
