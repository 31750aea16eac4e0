import { expect, test } from 'vitest'
import type { Call } from '../../src/changes/compile.ts'
import { partsFor } from '../../src/runner/apply-parts.ts'

const usual = ['steps', 'control', 'words', 'supervise', 'unit']
const place = ['../../transport/upload/fit', 'place']
const guard = ['../rollback/marks', '../rollback/decide', 'guard']

const table: readonly (readonly [Call, readonly string[]])[] = [
  [['perform', 'put', '/f'], []],
  [['perform', 'hold', '/run/l', '60'], guard],
  [['perform', 'arm', 'x', 'y', '60', '0', '1', 'z'], guard],
  [['perform', 'confirm', 'r'], guard],
  [['perform', 'fire_now', 'r', '9'], guard],
  [['perform', 'place', '/f'], place],
  [['perform', 'copy_file', '/f'], place],
  [['perform', 'wait_for', '0', '0', 'is_active', 'hold'], []],
  [['perform', 'wait_for', '0', '0', 'is_running_from', 'u', '/e'], ['health']],
  [['perform', 'wait_for', '0', '0', 'succeeds', '5', 'any', '', 'arm'], ['health']],
  [['perform', 'wait_for', '0', '0', 'answers', '5', 'http://x'], ['health']],
  [['begin', '0', 'arm'], []],
]

test.each(table)('%o needs %o besides what every apply has', (call, parts) => {
  expect(partsFor([call])).toEqual([...usual, ...parts])
})

test('a file travels once, however often it is called', () => {
  const calls = ['arm', 'hold', 'place', 'place'].map((name) => ['perform', name])
  expect(partsFor(calls)).toEqual([...usual, ...place, ...guard])
})
