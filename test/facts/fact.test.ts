import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Fact, factKey, mergeFacts } from '../../src/facts/fact.ts'

test.each<[string, Fact[], Fact[]]>([
  [
    'one wish of two',
    [
      { kind: 'path', path: '/x' },
      { kind: 'path', path: '/x', sha256: true },
    ],
    [{ kind: 'path', path: '/x', sha256: true }],
  ],
  [
    'the longer of two lengths, and every wish',
    [
      { kind: 'path', path: '/x', content: 10, entries: true },
      { kind: 'path', path: '/x', content: 99, sha256: true },
    ],
    [{ kind: 'path', path: '/x', content: 99, sha256: true, entries: true }],
  ],
  [
    'secret for one is secret for all',
    [
      { kind: 'path', path: '/x', content: 5, secret: true },
      { kind: 'path', path: '/x', content: 9 },
    ],
    [{ kind: 'path', path: '/x', content: 9, secret: true }],
  ],
  [
    'starts are counted if anybody asks',
    [
      { kind: 'unit', name: 'a.service' },
      { kind: 'unit', name: 'a.service', starts: true },
    ],
    [{ kind: 'unit', name: 'a.service', starts: true }],
  ],
  [
    'the longer deadline of one command',
    [
      { kind: 'command', argv: ['a'], timeoutS: 5 },
      { kind: 'command', argv: ['a'] },
      { kind: 'command', argv: ['a'], timeoutS: 9 },
    ],
    [{ kind: 'command', argv: ['a'], timeoutS: 9 }],
  ],
  [
    'different things stay apart, in the order of the asking',
    [
      { kind: 'port', port: 1 },
      { kind: 'package', name: 'a' },
      { kind: 'program', name: 'a' },
      { kind: 'port', port: 1 },
      { kind: 'mount', path: '/x' },
      { kind: 'path', path: '/x' },
    ],
    [
      { kind: 'port', port: 1 },
      { kind: 'package', name: 'a' },
      { kind: 'program', name: 'a' },
      { kind: 'mount', path: '/x' },
      { kind: 'path', path: '/x' },
    ],
  ],
])('%s', (_, facts, merged) => expect(mergeFacts(facts)).toEqual(merged))

test('words of a command that look alike are other commands', () => {
  const keys = [['a', 'b'], ['a b'], ['a', '', 'b'], ['a","b']].map((argv) => factKey({ kind: 'command', argv }))
  expect(new Set(keys).size).toBe(4)
  expect(factKey({ kind: 'probe', name: 'swap' })).toBe(factKey({ kind: 'probe', name: 'swap', args: [] }))
  expect(factKey({ kind: 'probe', name: 'swap', args: [''] })).not.toBe(factKey({ kind: 'probe', name: 'swap' }))
})

const word = fc.constantFrom('a', 'b', 'a.service')
const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record(
    { kind: fc.constant('unit' as const), name: word, starts: fc.boolean() },
    { requiredKeys: ['kind', 'name'] },
  ),
  fc.record(
    {
      kind: fc.constant('path' as const),
      path: word,
      content: fc.nat(9),
      secret: fc.boolean(),
      sha256: fc.boolean(),
      entries: fc.boolean(),
    },
    { requiredKeys: ['kind', 'path'] },
  ),
  fc.record(
    { kind: fc.constant('command' as const), argv: fc.array(word), timeoutS: fc.nat(9) },
    { requiredKeys: ['kind', 'argv'] },
  ),
  fc.record({ kind: fc.constant('port' as const), port: fc.nat(3) }),
) as fc.Arbitrary<Fact>

test('merging keeps one fact of each key, loses no wish, and a second time does nothing', () => {
  fc.assert(
    fc.property(fc.array(anyFact), (facts) => {
      const merged = mergeFacts(facts)
      expect(mergeFacts(merged)).toEqual(merged)
      expect(merged.map(factKey)).toEqual([...new Set(facts.map(factKey))])
      for (const fact of facts) {
        const kept = merged.find((other) => factKey(other) === factKey(fact)) as Record<string, unknown>
        for (const [wish, value] of Object.entries(fact)) {
          if (value === true) expect(kept[wish]).toBe(true)
          if (typeof value === 'number' && value > 0) expect(kept[wish]).toBeGreaterThanOrEqual(value)
        }
      }
    }),
  )
})
