import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countNames, expandNames, isRange, parseRanges } from '../../src/inventory/ranges.ts'

const expand = (text: string): string[] | string => {
  const ranges = parseRanges(text)
  return 'problem' in ranges ? ranges.problem.message : expandNames(ranges.parts)
}

describe('ranges', () => {
  it.each([
    ['web', ['web']],
    ['web[1:3]', ['web1', 'web2', 'web3']],
    ['web[08:10].x', ['web08.x', 'web09.x', 'web10.x']],
    ['web[8:10]', ['web8', 'web9', 'web10']],
    ['web[0:10:5]', ['web0', 'web5', 'web10']],
    ['db-[a:c]', ['db-a', 'db-b', 'db-c']],
    ['[A:B]', ['A', 'B']],
    ['r[1:2]n[a:b]', ['r1na', 'r1nb', 'r2na', 'r2nb']],
    ['web[7:7]', ['web7']],
    ['web[0:5:10]', ['web0']],
  ])('%s expands', (text, names) => {
    expect(expand(text)).toEqual(names)
  })

  it.each([
    ['web[5:1]', 'upwards'],
    ['web[1:a]', 'mix'],
    ['web[a:C]', 'one case'],
    ['web[0:9:0]', 'step'],
    ['web[01:100]', 'width'],
    ['web[1:3', 'closed'],
    ['web[]', 'two numbers'],
    ['web[1]', 'two numbers'],
    ['web[:5]', 'two numbers'],
    ['web[aa:bb]', 'two numbers'],
    ['web[-1:5]', 'two numbers'],
  ])('%s is refused', (text, why) => {
    expect(expand(text)).toContain(why)
  })

  it.each(['1:3', 'a:f', '0:10:2'])('[%s] is a range', (inside) => {
    expect(isRange(inside)).toBe(true)
  })

  it.each(['::1', '2001:db8::1', 'aa:bb', 'fe80::1', '1', ''])('[%s] is no range', (inside) => {
    expect(isRange(inside)).toBe(false)
  })

  it('counts a huge range without making its names', () => {
    const ranges = parseRanges('n[1:999999999999][1:999999999999]')
    expect('parts' in ranges && countNames(ranges.parts)).toBeGreaterThan(1e23)
  })

  it('names every number from the first to the last, each with its width', () => {
    const range = fc.tuple(fc.nat(5000), fc.nat(300), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 6 }))
    fc.assert(
      fc.property(range, ([first, length, step, width]) => {
        const last = first + length
        const digits = Math.max(width, String(last).length)
        const text = `n[${String(first).padStart(digits, '0')}:${String(last).padStart(digits, '0')}:${step}].x`
        const wanted: string[] = []
        const padded = String(first).length < digits || width > String(last).length
        for (let value = first; value <= last; value += step) {
          wanted.push(`n${padded ? String(value).padStart(digits, '0') : value}.x`)
        }
        expect(expand(text)).toEqual(wanted)
      }),
    )
  })

  it('makes as many names as it counts', () => {
    const part = fc.oneof(fc.constantFrom('a', '-', '[a:d]', '[1:9:3]', '[00:11]'))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const ranges = parseRanges(parts.join(''))
        if ('problem' in ranges) throw new Error(ranges.problem.message)
        const made = expandNames(ranges.parts)
        expect(made).toHaveLength(countNames(ranges.parts))
        expect(new Set(made).size).toBe(made.length)
      }),
    )
  })
})
