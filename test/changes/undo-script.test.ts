import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GuardScope } from '../../src/changes/change.ts'
import type { Undo } from '../../src/changes/undo.ts'
import { undoScript } from '../../src/changes/undo-script.ts'
import { shellQuote } from '../../src/quote.ts'
import { anyPath, anyText } from './every.ts'

/** What it does is shown on hosts (e2e/core/guard.e2e.test.ts); here it is only read. */

const scope: GuardScope = { root: '/opt/root', lock: '/run/x.lock' }

const groupOf = (script: string): string[] => {
  const [, group = ''] = /\ngroup\(\) \{\n([\s\S]*)\n\}\nmain "\$@" <\/dev\/null\n$/.exec(script) ?? []
  return group
    .split(' || return')
    .map((call) => call.trim())
    .filter((call) => call !== '')
}

const table: readonly (readonly [string, readonly Undo[], readonly string[]])[] = [
  ['nothing', [], []],
  [
    'a link that led elsewhere',
    [{ kind: 'link', path: '/l', was: '/a', ours: '/b' }],
    [`place '/l' 'link:/a' 'link:/b'`],
  ],
  [
    'a link that was not there',
    [{ kind: 'link', path: '/l', was: null, ours: '/b' }],
    [`place '/l' 'absent' 'link:/b'`],
  ],
  ['a link that goes', [{ kind: 'link', path: '/l', was: '/a', ours: null }], [`place '/l' 'link:/a' 'absent'`]],
  [
    'a file of other content',
    [{ kind: 'file', path: '/f', wasSha256: 'aa', oursSha256: 'bb' }],
    [`place '/f' 'file:aa' 'file:bb'`],
  ],
  [
    'a file that goes',
    [{ kind: 'file', path: '/f', wasSha256: 'aa', oursSha256: null }],
    [`place '/f' 'file:aa' 'absent'`],
  ],
  [
    'a file that what is started writes anew',
    [{ kind: 'file', path: '/f', wasSha256: 'aa', oursSha256: 'bb', rewritten: true }],
    [`place '/f' 'file:aa' 'file:bb' 'any'`],
  ],
  [
    'the same path twice: back to what it was before both, in the place of the first, from any state between',
    [
      { kind: 'link', path: '/x', was: null, ours: '/c' },
      { kind: 'link', path: '/y', was: '/1', ours: '/2' },
      { kind: 'file', path: '/x', wasSha256: 'aa', oursSha256: null },
    ],
    [`place '/y' 'link:/1' 'link:/2'`, `place '/x' 'file:aa' 'link:/c' 'absent'`],
  ],
  [
    'places, then one reload, then units, whatever their order',
    [
      { kind: 'unit', unit: 'a.service', was: 'up', exe: '/a' },
      { kind: 'daemon-reload' },
      { kind: 'unit', unit: 'b.service', was: 'down' },
      { kind: 'daemon-reload' },
      { kind: 'link', path: '/l', was: '/a', ours: '/b' },
    ],
    [`place '/l' 'link:/a' 'link:/b'`, 'reload', `unit 'a.service' 'up' '/a'`, `unit 'b.service' 'down' ''`],
  ],
]

test.each(table)('%s', (_, undo, calls) => {
  expect(groupOf(undoScript(undo, scope))).toEqual([`scope '/opt/root' '/run/x.lock'`, ...calls])
})

test('the worker comes last, with its machine left open', () => {
  const worker = { stateFile: '/s.json', current: '/c', inside: '/m/{machine}/x' }
  expect(groupOf(undoScript([], { ...scope, worker })).at(-1)).toBe(`worker '/s.json' '/c' '/m/{machine}/x'`)
})

test('whatever is to be undone it is a script, whole, with every word in quotes', () => {
  const text = anyText.map((one) => one.replaceAll('\0', ''))
  const digest = fc.option(fc.constantFrom('aa', 'bb'))
  const undo: fc.Arbitrary<Undo> = fc.oneof(
    fc.record({ kind: fc.constant('link' as const), path: anyPath, was: fc.option(text), ours: fc.option(text) }),
    fc.record({ kind: fc.constant('file' as const), path: anyPath, wasSha256: digest, oursSha256: digest }),
    fc.record({
      kind: fc.constant('unit' as const),
      unit: text,
      was: fc.constantFrom('up' as const, 'unsteady' as const, 'failed' as const, 'down' as const),
      exe: text,
    }),
    fc.constant({ kind: 'daemon-reload' as const }),
  )
  fc.assert(
    fc.property(fc.array(undo, { maxLength: 5 }), anyPath, anyPath, (all, root, lock) => {
      const script = undoScript(all, { root, lock })
      expect(execFileSync('/bin/sh', ['-n'], { input: script, encoding: 'utf8', stdio: 'pipe' })).toBe('')
      expect(() =>
        execFileSync('/bin/sh', ['-n'], { input: script.slice(0, script.lastIndexOf('}')), stdio: 'pipe' }),
      ).toThrow()
      for (const one of all) {
        if (one.kind === 'link' || one.kind === 'file') expect(script).toContain(`place ${shellQuote(one.path)} '`)
        if (one.kind === 'unit') expect(script).toContain(`unit ${shellQuote(one.unit)} `)
      }
    }),
    { numRuns: 30 },
  )
})

test('the binary of the worker is left to the machine that is active by then', () => {
  const worker = { stateFile: '/state', current: '/current', inside: '/var/lib/machines/{machine}/usr/local/bin/agent' }
  const copied = (path: string): Undo => ({ kind: 'file', path, wasSha256: 'aa', oursSha256: 'bb' })
  const undo = ['/a', '/var/lib/machines/kube2/usr/local/bin/agent', '/var/lib/machines/kube3/usr/local/bin/agent']
  expect(groupOf(undoScript(undo.map(copied), { ...scope, worker }))).toEqual([
    `scope '/opt/root' '/run/x.lock'`,
    `place '/a' 'file:aa' 'file:bb'`,
    `place '/var/lib/machines/kube3/usr/local/bin/agent' 'file:aa' 'file:bb'`,
    `worker '/state' '/current' '${worker.inside}'`,
  ])
})
