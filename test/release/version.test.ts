import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareVersions } from '../../src/release/version.ts'

const number = fc.nat({ max: 1000 })
const version = fc.tuple(fc.constantFrom('', 'v'), number, number, number, fc.constantFrom('', '-rc.1', '-rc.2', '+b7'))
const text = version.map(([prefix, a, b, c, end]) => `${prefix}${a}.${b}.${c}${end}`)

describe('two versions', () => {
  test.each([
    ['v0.4.1', '0.4.1', 0],
    ['v0.4.1', 'v0.4.2', -1],
    ['v0.10.0', 'v0.9.9', 1],
    ['1.0.0-rc.2', '1.0.0-rc.10', -1],
    ['1.0.0-rc.1', '1.0.0', -1],
    ['1.0.0+linux', '1.0.0', 0],
  ])('%s and %s come to %i', (a, b, order) => {
    expect(compareVersions(a, b)).toBe(order)
  })
  test.each(['dev', '', 'v1.2', '1', 'latest', '3f9c2ab', 'v1.2.3-4-g3f9c2ab', 'v1.2.3-4-g3f9c2ab-dirty'])(
    '%s cannot be placed before or after another',
    (unknown) => {
      expect(compareVersions(unknown, 'v1.2.3')).toBeNull()
      expect(compareVersions('v1.2.3', unknown)).toBeNull()
    },
  )
  test('are in the opposite order the other way round', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compareVersions(a, b)).toBe(0 - (compareVersions(b, a) ?? Number.NaN))
        expect(compareVersions(a, a)).toBe(0)
      }),
    )
  })
})
