import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { octalEscape, shellQuote } from '../src/quote.ts'

const deliverable = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed())

test.each([
  ['', "''"],
  ['plain', "'plain'"],
  ["it's", "'it'\\''s'"],
  ["''", "''\\'''\\'''"],
  ['$(x) `y` \\ !\n', "'$(x) `y` \\ !\n'"],
])('%j is quoted as %s', (text, quoted) => {
  expect(shellQuote(text)).toBe(quoted)
})

test.each([
  ['A-Z a_z./:=,@%+-09', 'A-Z a_z./:=,@%+-09'],
  ["'", '\\0047'],
  ['!\n\t', '\\0041\\n\\0011'],
  ['$(x) "y" `z` {a,b} *?[] <>|&;#~^', '$(x) "y" \\0140z\\0140 {a,b} *?[] <>|&;#~^'],
  ['\\', '\\0134'],
  ['é', '\\0303\\0251'],
  ['𝄞', '\\0360\\0235\\0204\\0236'],
])('%j is escaped as %s', (text, escaped) => {
  expect(octalEscape(text)).toBe(escaped)
})

test.each(['a\0b', '\ud800', 'x\udc00y'])('%j is refused: no shell could receive it', (text) => {
  expect(() => shellQuote(text)).toThrow(/cannot be handed to a shell/)
  expect(() => octalEscape(text)).toThrow(/cannot be handed to a shell/)
})

test('any words arrive byte for byte through a real /bin/sh', () => {
  fc.assert(
    fc.property(fc.array(deliverable, { minLength: 1, maxLength: 6 }), (words) => {
      const script = `for a in ${words.map(shellQuote).join(' ')}; do printf '%s\\0' "$a"; done`
      expect(execFileSync('/bin/sh', ['-c', script]).toString()).toBe(words.map((word) => `${word}\0`).join(''))
    }),
    { numRuns: 60 },
  )
})

test('any text arrives byte for byte through printf %b', () => {
  fc.assert(
    fc.property(deliverable, (text) => {
      const received = execFileSync('/bin/sh', ['-c', 'printf %b "$1"', 'sh', octalEscape(text)])
      expect(received.toString()).toBe(text)
    }),
    { numRuns: 60 },
  )
})

test('escaped text holds only characters that every login shell leaves alone in single quotes', () => {
  fc.assert(fc.property(deliverable, (text) => /^(?:[ -~](?<![\\'!`])|\\n|\\0[0-3][0-7]{2})*$/.test(octalEscape(text))))
})
