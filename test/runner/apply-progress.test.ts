import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ApplyEnd, type ApplyProgress, followApply } from '../../src/runner/apply-progress.ts'

const token = 'f00'
const marked = (text: string): Buffer => Buffer.from(text.replaceAll('~', `\x1e${token} `))

const follow = (pieces: readonly Uint8Array[]): { end: ApplyEnd; progress: ApplyProgress[] } => {
  const progress: ApplyProgress[] = []
  const follower = followApply(token, (step) => progress.push(step))
  for (const piece of pieces) follower.push(piece)
  return { end: follower.end(), progress }
}

const words64 = Buffer.from('/x is a link to\ny').toString('base64')
const endings: [name: string, output: string, end: ApplyEnd][] = [
  ['all made', '~B 0\n~D 0\n~B 1\nwords\n~D 1\n~T\n~R success exited 0\n', { kind: 'complete' }],
  [
    'all made, and a command left its line open',
    '~B 0\nopen~D 0\nopen~T\nopen~R success exited 0\n',
    { kind: 'complete' },
  ],
  [
    'one failed',
    '~B 0\nearlier\n~D 0\n~B 1\nno\nspace\n~F 1 28\n~R exit-code exited 1\n',
    { kind: 'failed', change: 1, code: 28, words: 'no\nspace' },
  ],
  [
    'one failed with its last line open',
    '~B 0\nno space~F 0 1\n~R exit-code exited 1\n',
    { kind: 'failed', change: 0, code: 1, words: 'no space' },
  ],
  [
    'drifted',
    `~B 0\n~X 0 ${words64}\n~R exit-code exited 1\n`,
    { kind: 'drifted', change: 0, found: '/x is a link to\ny' },
  ],
  ['begun too late', '~L 7\n~R exit-code exited 1\n', { kind: 'old', seconds: 7 }],
  [
    'a step out of time',
    '~B 0\n~D 0\n~B 1\nwaits\n~O 1\n~R signal killed KILL\n',
    { kind: 'late', change: 1, words: 'waits' },
  ],
  ['cancelled between changes', '~B 0\n~D 0\n~C 1\n~R exit-code exited 1\n', { kind: 'cancelled' }],
  [
    'stopped: systemd calls that a success',
    '~B 0\nhalf\n~R success killed TERM\n',
    { kind: 'broken', change: 0, verdict: 'success killed TERM', words: 'half' },
  ],
  [
    'out of time',
    '~B 0\n~D 0\n~B 1\n~R timeout killed KILL\n',
    { kind: 'broken', change: 1, verdict: 'timeout killed KILL', words: '' },
  ],
  [
    'ended with 0 before its last line',
    '~B 0\n~R success exited 0\n',
    { kind: 'broken', change: 0, verdict: 'success exited 0', words: '' },
  ],
  ['its last line and no verdict', '~B 0\n~D 0\n~T\n', { kind: 'broken', change: 0, verdict: '', words: '' }],
  [
    'its last line and another verdict',
    '~B 0\n~D 0\n~T\n~R oom-kill killed KILL\n',
    { kind: 'broken', change: 0, verdict: 'oom-kill killed KILL', words: '' },
  ],
  [
    'a shell that fell over',
    'sh: syntax error\n~R exit-code exited 2\n',
    { kind: 'broken', change: null, verdict: 'exit-code exited 2', words: 'sh: syntax error' },
  ],
  ['nothing at all', '', { kind: 'broken', change: null, verdict: '', words: '' }],
  ['cut in the middle of a line', '~B 0\nno spa', { kind: 'broken', change: 0, verdict: '', words: 'no spa' }],
]

describe.each(endings)('%s', (_, output, end) => {
  test('is told as what it is', () => expect(follow([marked(output)]).end).toEqual(end))
  test('however it is cut on its way', () => {
    const bytes = marked(output)
    const whole = follow([bytes])
    for (let at = 0; at <= bytes.length; at += 1)
      expect(follow([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
    expect(follow([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })
})

test('progress is told once for each mark, in order', () => {
  expect(follow([marked('~B 0\nx\n~D 0\n~B 1\n~F 1 1\n')]).progress).toEqual([
    { type: 'begun', change: 0 },
    { type: 'ended', change: 0 },
    { type: 'begun', change: 1 },
  ])
})

test('a character that is cut in two on its way is one character', () => {
  const bytes = marked('~B 0\nkein Platz für ö\u{1f600}\n~F 0 1\n')
  expect(follow([...bytes].map((byte) => Uint8Array.of(byte))).end).toMatchObject({
    words: 'kein Platz für ö\u{1f600}',
  })
})

test('of many words the last lines are kept', () => {
  const output = `~B 0\n${Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join('')}~F 0 1\n`
  const { end } = follow([marked(output)])
  expect(end.kind === 'failed' && end.words.split('\n')).toEqual(
    Array.from({ length: 40 }, (_, line) => `line ${60 + line}`),
  )
})

describe('what a command prints is no report, whatever it is', () => {
  const forgeries = [
    '\x1eD 1\n',
    '\x1eT\n',
    '\x1eR success exited 0\n',
    '\x1eF 0 1\n',
    '\x1eX 0 YQ==\n',
    '\x1eC 0\n',
    '\x1eB 7\n',
    '\x1e D 1\n',
    '\x1ef0 D 1\n',
    '\x1ef0ff T\n',
    'f00 T\n',
    '\x1e',
    '\x1ef00',
    '\x1ef00D 1\n',
    '\x1e\x1eT\n',
  ]
  test.each(forgeries)('%j', (forged) => {
    const failed = follow([marked(`~B 0\n${forged}~F 0 9\n~R exit-code exited 1\n`)])
    expect(failed.end).toMatchObject({ kind: 'failed', change: 0, code: 9 })
    expect(failed.progress).toEqual([{ type: 'begun', change: 0 }])
    const made = follow([marked(`~B 0\n${forged}~D 0\n~T\n~R success exited 0\n`)])
    expect(made.end).toEqual({ kind: 'complete' })
    expect(made.progress).toEqual([
      { type: 'begun', change: 0 },
      { type: 'ended', change: 0 },
    ])
  })
  test('any words at all, between any marks', () => {
    const noise = fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...forgeries), fc.constantFrom('\n', '\x1e', 'T', ' '))
      .map((text) => text.replaceAll(`\x1e${token} `, ''))
    fc.assert(
      fc.property(fc.array(noise, { minLength: 4, maxLength: 4 }), fc.boolean(), ([a, b, c, d], isMade) => {
        const output = isMade
          ? `${a}~B 0\n${b}~D 0\n${c}~T\n${d}~R success exited 0\n`
          : `${a}~B 0\n${b}~F 0 3\n${c}~R exit-code exited 1\n`
        const { end, progress } = follow([marked(output)])
        expect(end).toMatchObject(isMade ? { kind: 'complete' } : { kind: 'failed', change: 0, code: 3 })
        expect(progress.filter(({ type }) => type === 'ended').length).toBe(isMade ? 1 : 0)
      }),
    )
  })
})

test('an apply that is no unit says so, and why', () => {
  const why = Buffer.from('no systemd').toString('base64')
  expect(follow([marked(`~G ${why}\n~B 0\n~D 0\n~T\n~R success exited 0\n`)])).toEqual({
    end: { kind: 'complete' },
    progress: [
      { type: 'grouped', why: 'no systemd' },
      { type: 'begun', change: 0 },
      { type: 'ended', change: 0 },
    ],
  })
})

describe('a connection that is cut at any byte, and a new one that goes on from the byte that has been seen', () => {
  /** What the host sends to whoever has `seen` bytes of it: the rest of the output, and the verdict, which is no part of it. */
  const sent = (output: Buffer, verdict: Buffer, seen: number): Buffer =>
    Buffer.concat([output.subarray(Math.min(seen, output.length)), verdict])

  const cutAt = (output: Buffer, verdict: Buffer, cuts: readonly number[]): ReturnType<typeof follow> => {
    const progress: ApplyProgress[] = []
    const follower = followApply(token, (step) => progress.push(step))
    for (const cut of [...cuts, Number.POSITIVE_INFINITY])
      follower.push(sent(output, verdict, follower.resume()).subarray(0, cut))
    return { end: follower.end(), progress }
  }

  test.each(endings)('%s', (_, output, end) => {
    const at = output.indexOf('~R')
    const bytes = marked(at < 0 ? output : output.slice(0, at))
    const verdict = marked(at < 0 ? '' : output.slice(at))
    const once = cutAt(bytes, verdict, [])
    expect(once.end).toEqual(end)
    for (let cut = 0; cut <= bytes.length + verdict.length; cut += 1) {
      expect(cutAt(bytes, verdict, [cut])).toEqual(once)
      expect(cutAt(bytes, verdict, [cut, 1, cut])).toEqual(once)
    }
  })

  test('any words, cut anywhere and any number of times', () => {
    const anyWords = fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\x1e', '\x1ef00', '\x1ef0\n', '\x1ef00x R '))
      .map((text) => text.replaceAll(`\x1e${token} `, ''))
    fc.assert(
      fc.property(anyWords, anyWords, fc.array(fc.nat(80), { maxLength: 6 }), (a, b, cuts) => {
        const output = marked(`${a}~B 0\n${b}~F 0 3\n`)
        const verdict = marked('~R exit-code exited 1\n')
        const once = cutAt(output, verdict, [])
        expect(cutAt(output, verdict, cuts)).toEqual(once)
        expect(once.progress).toEqual([{ type: 'begun', change: 0 }])
      }),
    )
  })
})
