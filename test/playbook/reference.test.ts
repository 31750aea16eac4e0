import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeReferences, holdsReference, parseText, unescaped } from '../../src/playbook/reference.ts'

test.each([
  ['${a}', [{ text: 'a', name: 'a', path: [] }]],
  ['x${a-b.c_d.0}y', ['x', { text: 'a-b.c_d.0', name: 'a-b', path: ['c_d', '0'] }, 'y']],
  ['$${a}${b}$', ['${a}', { text: 'b', name: 'b', path: [] }, '$']],
  ['', []],
])('%s', (text, parts) => {
  expect(parseText(text)).toEqual({ parts })
})

test.each([
  '${}',
  '${ a }',
  '${a.}',
  '${.a}',
  '${1a}',
  '${a..b}',
  '${a[0]}',
  '${a:-b}',
  '${a',
  '${',
  '${a ${b}',
  '${a|upper}',
  '${ä}',
])('%s is no reference', (text) => {
  expect(parseText(text)).toHaveProperty('problem')
  expect(holdsReference(text)).toBe(true)
})

test('escaping and reading give the text back, and no escaped text refers to anything', () => {
  const text = fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', '\\') })
  fc.assert(
    fc.property(text, (value) => {
      const escaped = escapeReferences(value)
      expect(unescaped(escaped)).toBe(value)
      expect(holdsReference([{ a: escaped }])).toBe(false)
      expect(unescaped([{ a: escaped }, 1, null])).toEqual([{ a: value }, 1, null])
    }),
  )
})
