import { expect, test } from 'vitest'
import { rate } from '../../src/cli/options.ts'

test.each([
  ['1000', 1000],
  ['500k', 500_000],
  ['10M', 10_000_000],
  ['1.5G', 1_500_000_000],
  ['2MB/s', 2_000_000],
  ['2m/s', 2_000_000],
])('%s is %i bytes a second', (text, bytes) => {
  expect(rate(text)).toBe(bytes)
})

test.each(['', '0', '999', '-5M', '10 M', '10T', 'M', '1e9', 'fast', '1000000G'])('%j is no rate', (text) => {
  expect(() => rate(text)).toThrow('bytes a second')
})
