import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globMatcher } from '../../src/inventory/glob.ts'

describe('globs', () => {
  it.each([
    ['web*', 'web', true],
    ['web*', 'web12', true],
    ['*b1', 'web1', true],
    ['w?b1', 'web1', true],
    ['w?b1', 'wb1', false],
    ['web[12]', 'web2', true],
    ['web[12]', 'web3', false],
    ['web[1-3]', 'web2', true],
    ['web[!1-3]', 'web2', false],
    ['web[!1-3]', 'web4', true],
    ['web[', 'web[', true],
    ['web.*', 'webx1', false],
    ['*', '', true],
    ['', 'a', false],
    ['a*b*c', 'axbxbxc', true],
    ['a*b*c', 'axbxbx', false],
  ])('%s on %s is %s', (glob, text, outcome) => {
    expect(globMatcher(glob)(text)).toBe(outcome)
  })

  it('agrees with the regular expression that it stands for', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 6 })
    fc.assert(
      fc.property(glob, text, (pattern, name) => {
        const regex = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`)
        expect(globMatcher(pattern)(name)).toBe(regex.test(name))
      }),
    )
  })

  it('does not slow down on many stars', () => {
    let looks = 0
    const text = new Proxy(new String('a'.repeat(250)), {
      get: (target, key) => {
        if (key === 'charAt') looks++
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    expect(globMatcher(`${'*a'.repeat(60)}b`)(text as unknown as string)).toBe(false)
    expect(looks).toBeLessThan(250 * 122)
  })
})
