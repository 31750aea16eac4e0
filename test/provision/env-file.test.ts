import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import { envFile } from '../../src/provision/env-file.ts'
import { Secret } from '../../src/secret.ts'

/**
 * systemd's reading of an environment file, as far as it goes for what drover may write (domain.md 10): `#` at the start
 * of a line is a comment, quotes end where they began, and of the characters after a backslash in double quotes these four
 * stand for themselves, a newline for nothing, and any other keeps its backslash. Nothing is expanded.
 */
const readAsSystemd = (text: string): Map<string, string> => {
  const read = new Map<string, string>()
  let rest = text
  while (rest !== '') {
    if (/^[#;]/.test(rest)) {
      rest = rest.replace(/^[^\n]*\n?/, '')
      continue
    }
    const [start = '', name = ''] = /^([^=\n]*)=/.exec(rest) ?? []
    if (start === '') throw new Error('a line without =')
    let at = start.length
    let value = ''
    let quote = ''
    for (; at < rest.length; at++) {
      const character = rest.charAt(at)
      if (quote === '' && /[\n\r]/.test(character)) break
      if (character === '\\' && quote !== "'") {
        at++
        const next = rest.charAt(at)
        if (next === '\n') continue
        value += quote === '' || '"\\`$'.includes(next) ? next : `\\${next}`
      } else if (quote === '' && value === '' && /["']/.test(character)) quote = character
      else if (character === quote) quote = ''
      else if (quote !== '' || value !== '' || !/[ \t]/.test(character)) value += character
    }
    if (!value.isWellFormed() || /\p{Noncharacter_Code_Point}/u.test(value)) throw new Error('no UTF-8 for systemd')
    read.set(name, value)
    rest = rest.slice(at + 1)
  }
  return read
}

const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,20}$/)
const value = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'\\"\'$`#;%{}()&| =\tn\u0085é😀'), maxLength: 60 }),
  )
  .filter((text) => !/[\n\r\0]/.test(text) && !/\p{Noncharacter_Code_Point}/u.test(text))

test('whatever is one line arrives unchanged', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([each]) => each, maxLength: 6 }), (vars) => {
      expect([...readAsSystemd(envFile(vars).reveal())]).toEqual(vars)
    }),
    { numRuns: 2000 },
  )
})

test('the probe of the sources, as a secret and as a text', () => {
  const probe = `$HOME \${X} %h %% "q" \\ it's`
  const text = envFile([
    ['A', probe],
    ['B', new Secret(probe)],
  ]).reveal()
  expect(text).toBe(`A="$HOME \${X} %h %% \\"q\\" \\\\ it's"\nB="$HOME \${X} %h %% \\"q\\" \\\\ it's"\n`)
  expect([...readAsSystemd(text).values()]).toEqual([probe, probe])
})

test('the model itself tells what is quoted wrongly', () => {
  expect(readAsSystemd('A="a"b"\n').get('A')).not.toBe('a"b')
  expect(readAsSystemd('A="a\\\\nb"\n').get('A')).toBe('a\\nb')
  expect(readAsSystemd('A= x \\$y\n').get('A')).toBe('x $y')
  expect([...readAsSystemd('#A=1\nB=2\n')]).toEqual([['B', '2']])
})

describe('a value that systemd would not hand on is refused by its name', () => {
  test.each([
    ['a newline', 'two\nlines', 'newline'],
    ['one at its end', 'hush\n', 'newline'],
    ['a carriage return', 'hush\rhush', 'newline'],
    ['NUL', 'hush\0', 'NUL'],
    ['half a character', 'hush\ud800', 'no Unicode character'],
    ['what is no character', 'hush\uffff', 'no Unicode character'],
    ['more than Linux passes on', 'x'.repeat(131_071), 'longer'],
  ])('%s', (_, given, word) => {
    const refuse = () =>
      envFile([
        ['GOOD', 'x'],
        ['TOKEN', new Secret(given)],
      ])
    expect(refuse).toThrow(InputError)
    try {
      refuse()
    } catch (thrown) {
      const error = thrown as InputError
      expect(error.code).toBe('provision-invalid')
      expect(error.faults).toHaveLength(1)
      expect(error.faults[0]).toMatchObject({ file: 'TOKEN', message: expect.stringContaining(word) })
      expect(JSON.stringify([error.message, error.faults])).not.toMatch(/hush|two|xxx/)
    }
  })
  test('all of them at once', () => {
    expect(() =>
      envFile([
        ['A', '\n'],
        ['B', 'x'],
        ['C', '\0\n'],
      ]),
    ).toThrow(/A .*\nC .*\nC /)
  })
})

test('the longest value that goes', () => {
  expect(envFile([['A', 'x'.repeat(131_069)]]).reveal()).toHaveLength(131_069 + 5)
})
