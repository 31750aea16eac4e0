import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Change, Expectation } from '../../src/changes/change.ts'
import { type Call, compile, debtOf, type ExpectedChange } from '../../src/changes/compile.ts'
import { Secret } from '../../src/secret.ts'
import { anyChange, anyText } from './every.ts'

const planned = (change: Change, expects: readonly Expectation[] = []): ExpectedChange => ({ change, expects })
const calls = (...changes: Change[]): readonly Call[] => compile(changes.map((change) => planned(change))).calls
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const write = (path: string, content: string | Secret = 'x'): Change => ({
  kind: 'write',
  path,
  content,
  mode: 0o644,
  owner: 'root:root',
})
const reload: Change = { kind: 'systemctl', verb: 'daemon-reload' }
const restart = (unit: string): Change => ({ kind: 'systemctl', verb: 'restart', unit })

const kinds: [change: Change, call: string[], deadlineS: number][] = [
  [write('/a', 'é\n'), ['put', '/a', '00644', 'root:root', '0', '3', digest('é\n')], 10],
  [write('/a', new Secret('s')), ['put', '/a', '00644', 'root:root', '0', '1', digest('s')], 10],
  [{ kind: 'link', path: '/l', target: '../x' }, ['relink', '/l', '../x'], 10],
  [{ kind: 'directory', path: '/d', mode: 0o2755, owner: '0:adm' }, ['make_directory', '/d', '02755', '0:adm'], 10],
  // Five digits, or chmod leaves a directory its setgid bit.
  [{ kind: 'attributes', path: '/d', mode: 0o7, owner: 'a:b' }, ['attributes', '/d', '00007', 'a:b'], 10],
  [{ kind: 'remove', path: '/f', recurse: false }, ['remove', '/f'], 10],
  [{ kind: 'remove', path: '/d', recurse: true }, ['remove_tree', '/d'], 600],
  [reload, ['control', 'daemon-reload'], 30],
  ...(['start', 'stop', 'restart', 'enable', 'disable'] as const).map((verb): [Change, string[], number] => [
    { kind: 'systemctl', verb, unit: 'a.service' },
    ['control', verb, 'a.service'],
    verb === 'start' ? 30 : 120,
  ]),
  [{ kind: 'systemctl', verb: 'reset-failed', unit: 'a.service' }, ['control', 'reset-failed', 'a.service'], 30],
  [{ kind: 'package', install: ['a', 'b'], manager: 'apt' }, ['apt_install', 'a', 'b'], 900],
  [{ kind: 'package', install: ['a'], manager: 'dnf' }, ['dnf_install', 'a'], 900],
  [
    { kind: 'await', condition: { unit: 'a.service', is: 'active' }, withinMs: 1500, stableMs: 10 },
    ['wait_for', '1500', '10', 'is_active', 'a.service'],
    7,
  ],
  [
    { kind: 'await', condition: { unit: 'a.service', is: 'untouched', mainPid: '5' }, withinMs: 1000, stableMs: 0 },
    ['wait_for', '1000', '0', 'is_untouched', 'a.service', '5'],
    6,
  ],
  [
    { kind: 'await', condition: { machine: 'kube1', is: 'running' }, withinMs: 1000, stableMs: 0 },
    ['wait_for', '1000', '0', 'is_running', 'kube1'],
    6,
  ],
  [
    {
      kind: 'await',
      condition: { unit: 'a.service', is: 'startable', below: 4, windowS: 300 },
      withinMs: 1000,
      stableMs: 0,
    },
    ['wait_for', '1000', '0', 'is_startable', 'a.service', '4', '300'],
    6,
  ],
  [
    { kind: 'await', condition: { path: '/m', is: 'gone' }, withinMs: 9000, stableMs: 0, orGoOn: true },
    ['wait_or_go_on', '9000', '0', 'is_gone', '/m'],
    14,
  ],
  [{ kind: 'rename', from: '/a', to: '/b' }, ['rename_to', '/a', '/b'], 60],
  [{ kind: 'release', lock: '/run/lock' }, ['release_lock'], 60],
  [
    { kind: 'run', argv: ['/bin/x', '-n', 'a b'], timeoutMs: 1001, spoils: [] },
    ['run_command', '2', '/bin/x', '-n', 'a b'],
    7,
  ],
]
test.each(kinds)('%j', (change, call, deadlineS) => {
  const program = compile([planned(change)])
  expect(program.calls.filter(([name]) => name === 'perform')).toEqual([['perform', ...call]])
  expect(program.calls[0]).toEqual(['begin', '0', change.kind])
  expect(program.calls.at(-1)).toEqual(['ended', '0'])
  expect(program.deadlineS).toBe(30 + deadlineS)
})

test.each<[Expectation, string[]]>([
  [{ path: '/x', is: 'absent' }, ['path_is', '/x', 'absent', '']],
  [{ path: '/x', is: 'directory' }, ['path_is', '/x', 'directory', '']],
  [{ path: '/x', is: 'other' }, ['path_is', '/x', 'other', '']],
  [{ path: '/x', is: 'file' }, ['path_is', '/x', 'file', '']],
  [{ path: '/x', is: 'file', sha256: 'ab' }, ['path_is', '/x', 'file', 'ab']],
  [{ path: '/x', is: 'symlink', target: 'y' }, ['path_is', '/x', 'symlink', 'y']],
  [{ unit: 'a.service', property: 'ActiveState', value: 'active' }, ['unit_is', 'a.service', 'ActiveState', 'active']],
])('%j is looked at before the change', (expectation, call) => {
  expect(compile([planned(write('/x'), [expectation])]).calls).toEqual([
    ['begin', '0', 'write'],
    ['expect', ...call],
    expect.arrayContaining(['perform', 'put']),
    ['ended', '0'],
  ])
})

describe('debts', () => {
  const marks = (...changes: Change[]): string[] =>
    calls(...changes).flatMap((call) => {
      const [name, first = '', second = ''] = call
      if (name === 'owe' || name === 'paid') return [`${name} ${first}`]
      return name === 'perform' ? [first === 'control' ? second : first] : []
    })
  test('are marked before the first write and struck off when they are paid', () => {
    expect(marks(write('/u'), reload, restart('a.service'))).toEqual([
      'owe daemon-reload',
      'put',
      'daemon-reload',
      'paid daemon-reload',
      'restart',
    ])
  })
  test('are owed again by what is written after they were paid', () => {
    expect(marks(write('/u'), reload, write('/v'), write('/w'), reload)).toEqual([
      'owe daemon-reload',
      'put',
      'daemon-reload',
      'paid daemon-reload',
      'owe daemon-reload',
      'put',
      'put',
      'daemon-reload',
      'paid daemon-reload',
    ])
  })
  test('are not owed for what is written after them, nor where nothing is written', () => {
    expect(marks(reload, write('/u'))).toEqual(['daemon-reload', 'paid daemon-reload', 'put'])
    expect(marks(reload, restart('a.service'))).toEqual(['daemon-reload', 'paid daemon-reload', 'restart'])
  })
  test('are marked only after the host was seen to be as planned: what has drifted owes nothing', () => {
    const program = compile([planned(write('/u'), [{ path: '/u', is: 'absent' }]), planned(reload)])
    expect(program.calls.map(([name]) => name).slice(0, 4)).toEqual(['begin', 'expect', 'owe', 'perform'])
  })
  // What a restart is for can be read off the host again, and only its task knows what it may start.
  test.each(['start', 'stop', 'restart', 'enable', 'disable', 'reset-failed'] as const)('%s leaves none', (verb) => {
    expect(debtOf({ kind: 'systemctl', verb, unit: 'a.service' })).toBeNull()
  })
  test('whatever the changes, a cut after any of them leaves just the marks of what later ones pay', () => {
    fc.assert(
      fc.property(fc.array(anyChange(), { maxLength: 12 }), (changes) => {
        const owed = new Set<string>()
        let isWritten = false
        for (const [name, first = '', ...rest] of calls(...changes)) {
          if (name === 'owe') owed.add(first)
          if (name === 'paid') owed.delete(first)
          if (name === 'perform' && first !== 'control' && first !== 'wait_for') isWritten = true
          if (name !== 'ended') continue
          const later = changes
            .slice(Number(first) + 1)
            .map(debtOf)
            .filter((debt) => debt !== null)
          for (const debt of owed) expect(later).toContain(debt)
          const last = changes[Number(first)] as Change
          if (isWritten && last.kind !== 'systemctl' && last.kind !== 'await')
            expect([...owed].sort()).toEqual([...new Set(later)].sort())
          expect(rest).toEqual([])
        }
        expect(owed.size).toBe(0)
      }),
    )
  })
})

test('no byte of any content is lost, and each is where its call says', () => {
  fc.assert(
    fc.property(
      fc.array(
        anyChange(
          fc.oneof(
            anyText,
            anyText.map((text) => new Secret(text)),
          ),
        ),
        { maxLength: 12 },
      ),
      (changes) => {
        const program = compile(changes.map((change) => planned(change)))
        const puts = program.calls.filter(([name, call]) => name === 'perform' && call === 'put')
        const writes = changes.filter((change) => change.kind === 'write')
        expect(puts.length).toBe(writes.length)
        let end = 0
        for (const [index, change] of writes.entries()) {
          const [, , path, , , offset, size, sha256] = puts[index] ?? []
          const bytes = program.content.subarray(Number(offset), Number(offset) + Number(size))
          expect(path).toBe(change.path)
          expect(Number(offset)).toBe(end)
          expect(bytes.toString('utf8')).toBe(
            change.content instanceof Secret ? change.content.reveal() : change.content,
          )
          expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
          end += Number(size)
        }
        expect(end).toBe(program.content.length)
      },
    ),
  )
})

test('each change begins and ends once, in order, and no call is anything but words', () => {
  fc.assert(
    fc.property(fc.array(anyChange()), (changes) => {
      const all = calls(...changes)
      const numbers = changes.map((_, index) => String(index))
      expect(all.filter(([name]) => name === 'begin').map(([, number]) => number)).toEqual(numbers)
      expect(all.filter(([name]) => name === 'ended').map(([, number]) => number)).toEqual(numbers)
      expect(new Set(all.map(([name]) => name))).toEqual(
        new Set(all.map(([name]) => name).filter((name) => /^(begin|expect|owe|perform|paid|ended)$/.test(name ?? ''))),
      )
      expect(all.flat().every((word) => typeof word === 'string')).toBe(true)
    }),
  )
})

describe('the limit of a step', () => {
  const of = (step: string, withinS?: number): ExpectedChange => ({
    ...planned(write(`/${step}`)),
    step,
    ...(withinS !== undefined && { withinS }),
  })
  const marks = (...changes: ExpectedChange[]): string[] =>
    compile(changes).calls.flatMap(([name, first]) =>
      name === 'within' ? [`within ${first}`] : name === 'begin' ? [`begin ${first}`] : [],
    )
  test.each<[string, ExpectedChange[], string[]]>([
    ['none', [of('a'), of('b')], ['begin 0', 'begin 1']],
    ['one for all changes of the step', [of('a', 5), of('a', 5)], ['within 5', 'begin 0', 'begin 1']],
    ['each its own', [of('a', 5), of('b', 7)], ['within 5', 'begin 0', 'within 7', 'begin 1']],
    ['equal ones begin anew', [of('a', 5), of('b', 5)], ['within 5', 'begin 0', 'within 5', 'begin 1']],
    ['ends where the next step has none', [of('a', 5), of('b')], ['within 5', 'begin 0', 'within 0', 'begin 1']],
    ['begins later', [of('a'), of('b', 5)], ['begin 0', 'within 5', 'begin 1']],
  ])('%s', (_, changes, expected) => expect(marks(...changes)).toEqual(expected))
})

test('what is armed is marked as proved when all changes have come to their end, and nothing else is', () => {
  const scope = { lock: '/run/lock', root: '/opt/root' }
  const arm: Change = { kind: 'arm', what: 'x', candidate: 'y', withinMs: 1000, scope }
  expect(calls(arm, restart('a.service')).slice(-2)).toEqual([['ended', '1'], ['proved']])
  expect(calls({ kind: 'hold', lock: '/l', forS: 1 }, restart('a.service')).flat()).not.toContain('proved')
})
