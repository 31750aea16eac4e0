import { expect, test } from 'vitest'
import { durationS } from '../../src/playbook/duration.ts'

test.each<[string, number | null]>([
  ['90', 90],
  ['90s', 90],
  ['10m', 600],
  ['1h30m', 5400],
  ['1h1m1s', 3661],
  ['24h', 86_400],
  ['86401', null],
  ['25h', null],
  ['0', null],
  ['0s', null],
  ['', null],
  ['s', null],
  ['-1s', null],
  ['1.5m', null],
  ['1 m', null],
  ['10ms', null],
  ['30m1h', null],
  ['1d', null],
  ['1e3', null],
  ['9999999999999', null],
])('%j', (text, seconds) => expect(durationS(text)).toBe(seconds))
