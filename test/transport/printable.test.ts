import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable } from '../../src/transport/printable.ts'

test.each([
  ['plain äöü 𝄞\n\ttext', 'plain äöü 𝄞\n\ttext'],
  ['\x1b[2J\x07', '\\x1b[2J\\x07'],
  ['line\r\nnext\rover', 'line\nnext\\x0dover'],
  ['\x7f\x9b31m', '\\x7f\\x9b31m'],
  ['abc\u202edef\u200b', 'abc\\u{202e}def\\u{200b}'],
  ['\u2028', '\\u{2028}'],
])('%j shows as %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('bytes that are no UTF-8 show as the replacement character', () => {
  expect(printable(Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
})

test('no control character is left in any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Cf}|\p{Cs}/u)
    }),
  )
})
