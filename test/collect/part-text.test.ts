import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/collect/part.ts'
import { fitting, partText } from '../../src/collect/part-text.ts'

const part = (keep: Part['keep'], bytes = 2048, argv = ['journalctl']): Part => ({
  file: 'a/b.txt',
  about: 'something',
  argv,
  seconds: 7,
  bytes,
  keep,
})
const read = (text: string, code = 0) => ({ kind: 'read', bytes: Buffer.from(text, 'latin1'), code }) as const

describe('what a part says', () => {
  test.each([
    ['whole', part('first'), read('a\nb\n'), { text: 'a\nb\n', note: null, isMissing: false }],
    ['empty', part('first'), read(''), { text: '', note: 'nothing was said', isMissing: false }],
    ['with an exit code', part('first'), read('a\n', 3), { text: 'a\n', note: 'exit code 3', isMissing: false }],
    [
      'failed without a word',
      part('first'),
      read('', 1),
      { text: '', note: 'nothing was said; exit code 1', isMissing: true },
    ],
    [
      'skipped',
      part('first'),
      { kind: 'skipped' } as const,
      { text: '', note: 'the time for this host was up before it', isMissing: true },
    ],
    [
      'of a program that is not there',
      part('first'),
      read('timeout: failed to run command\n', 127),
      { text: '', note: 'there is no journalctl on the host', isMissing: true },
    ],
    ['of nothing', part('first'), read('not there\n', 66), { text: '', note: 'not there', isMissing: true }],
    [
      'cut by time, without the half line',
      part('first'),
      read('a\nhal', 124),
      { text: 'a\n', note: 'not finished after 7 s', isMissing: false },
    ],
    [
      'cut by time before its first line',
      part('newest'),
      read('hal', 137),
      { text: '', note: 'not finished after 7 s; nothing was said', isMissing: true },
    ],
    [
      'too long: its beginning',
      part('first', 1024),
      read(`${'a'.repeat(1000)}\n${'b'.repeat(1000)}\n`, 141),
      { text: `${'a'.repeat(1000)}\n`, note: 'only the first 1 KiB', isMissing: false },
    ],
    [
      'too long: its end',
      part('last', 1024),
      read(`${'a'.repeat(1000)}\n${'b'.repeat(1000)}\n`),
      { text: `${'b'.repeat(1000)}\n`, note: 'only the last 1 KiB', isMissing: false },
    ],
    [
      'newest first, turned round, entries of several lines whole',
      part('newest'),
      read('t3 c\n    c2\n  c3\n-- Boot 0123 --\nt2 b\nt1 a\n'),
      { text: 't1 a\nt2 b\n-- another boot --\nt3 c\n    c2\n  c3\n', note: null, isMissing: false },
    ],
    [
      'without what a terminal would act on',
      part('first'),
      read('\x1b[31mtok\x1b[0men=\x00a\x07\r\n\ttab\n'),
      { text: 'token=a\n\ttab\n', note: null, isMissing: false },
    ],
  ])('%s', (_name, asked, answer, wanted) => {
    expect(partText(asked, answer)).toEqual(wanted)
  })
})

test('a text is never longer than its part may be, ends with whole lines, and is left alone where it fits', () => {
  const lines = fc.array(
    fc.string({ maxLength: 40, unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(lines, fc.constantFrom('first', 'last', 'newest'), (all, keep) => {
      const text = all.map((line) => `${line}\n`).join('')
      const kept = fitting(part(keep, 1024), text)
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1024)
      if (Buffer.byteLength(text) <= 1024) expect(kept).toBe(text)
      else if (keep === 'first') expect(text.startsWith(kept) && /^$|\n$/.test(kept)).toBe(true)
      else expect(text.endsWith(`\n${kept}`)).toBe(true)
    }),
  )
})
