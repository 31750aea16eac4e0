import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printable, printableLines, printableText } from '../src/printable.ts'
import { jsonLine, jsonText } from '../src/report/json-text.ts'

const anyText = fc.string({ unit: 'binary' })

describe('printable text', () => {
  test.each([
    ['plain – äöü 日本', 'plain – äöü 日本'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['one\nok: [two] forged', 'one\\nok: [two] forged'],
    ['\u009b2J', '\\x9b2J'],
    ['\u202egnp', '\\u{202e}gnp'],
    ['a\u2028b', 'a\\u{2028}b'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\\u{d800}'],
  ])('of %j is %j', (text, expected) => {
    expect(printable(text)).toBe(expected)
  })

  test('never holds a character that drives a terminal', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
      }),
    )
  })

  test.each([
    ['plain äöü 𝄞\n\ttext', 'plain äöü 𝄞\n\ttext'],
    ['\u001b[2J\u0007', '\\x1b[2J\\x07'],
    ['line\r\nnext\rover', 'line\nnext\\rover'],
    ['\u007f\u009b31m', '\\x7f\\x9b31m'],
    ['abc\u202edef\u200b', 'abc\\u{202e}def\\u{200b}'],
    ['\u2028', '\\u{2028}'],
  ])('of several lines, %j, is %j', (text, expected) => {
    expect(printableText(text)).toBe(expected)
  })

  test('of bytes that are no UTF-8 holds the replacement character', () => {
    expect(printableText(Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
  })

  test('of several lines differs from that of one in newlines and tabs alone', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printableText(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Cf}|\p{Cs}|[\u2028\u2029]/u)
        const spelledOut = printableText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
        expect(spelledOut).toBe(printable(text.replaceAll('\r\n', '\n')))
      }),
    )
  })

  test('keeps the lines and tabs of longer text', () => {
    expect(printableLines('a\tb\r\n\u001b[1mc\n')).toEqual(['a\tb', '\\x1b[1mc'])
  })

  test('JSON for terminals is harmless and reads back the same', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(JSON.parse(jsonLine({ [text]: text }))).toEqual({ [text]: text })
        expect(jsonLine(text).trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
        expect(JSON.parse(jsonText([text]))).toEqual([text])
      }),
    )
  })
})
