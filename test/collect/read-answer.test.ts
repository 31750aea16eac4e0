import { expect, test } from 'vitest'
import type { Part } from '../../src/collect/part.ts'
import { lastPart, readAnswer } from '../../src/collect/read-answer.ts'

const parts: readonly Part[] = ['a.txt', 'b/c.txt'].map((file) => ({
  file,
  about: '',
  argv: ['true'],
  seconds: 1,
  bytes: 1024,
  keep: 'first',
}))

const whole = 'uid 0\n\x1eP a.txt\nread aGkK 3\n\x1eP b/c.txt\nskipped\n\x1eP end\n'

test('each part by its name, with its bytes and exit code', () => {
  const { isRoot, parts: read } = readAnswer(whole, parts)
  expect(isRoot).toBe(true)
  expect([...read]).toEqual([
    ['a.txt', { kind: 'read', bytes: Buffer.from('hi\n'), code: 3 }],
    ['b/c.txt', { kind: 'skipped' }],
  ])
  expect(readAnswer(whole.replace('uid 0', 'uid 1000'), parts).isRoot).toBe(false)
  expect(readAnswer(whole.replace('aGkK', ''), parts).parts.get('a.txt')).toMatchObject({ bytes: Buffer.alloc(0) })
})

test.each([
  ['without its beginning', whole.slice(1)],
  ['without its end', whole.replace('\x1eP end\n', '')],
  ['with too little', whole.replace('\x1eP b/c.txt\nskipped\n', '')],
  ['out of order', whole.replace('a.txt', 'b.txt')],
  ['with a line more', whole.replace('skipped\n', 'skipped\nmore\n')],
  ['that is no base64', whole.replace('aGkK', 'aGk')],
  ['without an exit code', whole.replace('aGkK 3', 'aGkK ')],
  ['that is empty', ''],
])('an answer %s is refused', (_name, output) => {
  expect(() => readAnswer(output, parts)).toThrow()
})

test('where it stopped', () => {
  expect(lastPart('uid 0\n')).toBe(null)
  expect(lastPart('uid 0\n\x1eP a.txt\nread aG')).toBe('a.txt')
})
