import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameReader } from '../../src/transport/script/frame-reader.ts'
import { deframe } from '../../src/transport/script/framing.ts'

const frame = (body: string, code = 0, noise = '') => ({
  stdout: Buffer.from(`${noise}\x1eB t1\n${body}\x1eE t1 ${code}\n`),
  stderr: Buffer.from(`${noise}\x1eB t1\ntalk\x1eE t1\n`),
})

describe('deframe', () => {
  test('the code and both streams, exactly, with the noise of the login shell apart', () => {
    const noise = { stdout: Buffer.from('welcome\n'), stderr: Buffer.from('welcome\n') }
    const streams = { stdout: Buffer.from('no newline'), stderr: Buffer.from('talk') }
    expect(deframe('t1', frame('no newline', 3, 'welcome\n'))).toEqual({ kind: 'complete', code: 3, ...streams, noise })
  })

  test("another run's marks are output, not marks", () => {
    expect(deframe('t1', frame('\x1eE t2 0\n\x1eB t1\n'))).toMatchObject({
      kind: 'complete',
      stdout: Buffer.from('\x1eE t2 0\n\x1eB t1\n'),
    })
  })

  test('what comes after the trailer, as from a child left behind, is dropped', () => {
    const late = { ...frame('x'), stdout: Buffer.concat([frame('x').stdout, Buffer.from('late')]) }
    expect(deframe('t1', late)).toMatchObject({ kind: 'complete', stdout: Buffer.from('x') })
  })

  test('cut anywhere, it is never complete', () => {
    const whole = frame('body', 0, 'noise')
    for (let length = 0; length < whole.stdout.length; length += 1) {
      expect(deframe('t1', { ...whole, stdout: whole.stdout.subarray(0, length) }).kind).not.toBe('complete')
    }
    for (let length = 0; length < whole.stderr.length; length += 1) {
      expect(deframe('t1', { ...whole, stderr: whole.stderr.subarray(0, length) }).kind).not.toBe('complete')
    }
  })

  test('a cut answer keeps what had come', () => {
    expect(
      deframe('t1', { stdout: Buffer.from('\x1eB t1\nhalf\x1eE t'), stderr: Buffer.from('\x1eB t1\nwhy') }),
    ).toEqual({
      kind: 'cut',
      stdout: Buffer.from('half\x1eE t'),
      stderr: Buffer.from('why'),
      noise: { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) },
    })
  })

  test('without a begin mark everything is noise', () => {
    const noise = { stdout: Buffer.from('This account is not available.\n'), stderr: Buffer.from('') }
    expect(deframe('t1', noise)).toEqual({ kind: 'not-begun', noise })
  })
})

test('split anywhere, the pieces give the same', () => {
  const bit = fc.constantFrom('a', '\n', '\x1e', '\x1eE', '\x1eE t', '\x1eE t2 0\n', '\x1eB t1\n', ' 1', 'é')
  fc.assert(
    fc.property(
      fc.array(bit),
      fc.array(bit),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (noise, body, cuts) => {
        const bytes = frame(body.join(''), 42, noise.join('').replaceAll('\x1eB t1\n', '')).stdout
        const reader = new FrameReader('t1')
        const pieces: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1
          pieces.push(reader.push(bytes.subarray(at, at + length)))
          at += length
        }
        expect(Buffer.concat(pieces).toString()).toBe(body.join(''))
        expect(reader.noise.toString()).toBe(noise.join('').replaceAll('\x1eB t1\n', ''))
        expect([reader.code, reader.hasEnded]).toEqual([42, true])
      },
    ),
  )
})

test('output is handed on at once, but for a possible beginning of the end mark', () => {
  const reader = new FrameReader('t1')
  expect(reader.push(Buffer.from('\x1eB t1\none\ntw')).toString()).toBe('one\ntw')
  expect(reader.push(Buffer.from('o\x1eE ')).toString()).toBe('o')
  expect(reader.push(Buffer.from('x')).toString()).toBe('\x1eE x')
  expect(reader.push(Buffer.from('\x1eE t1 0\n')).toString()).toBe('')
})
