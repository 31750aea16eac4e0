import { describe, expect, it } from 'vitest'
import { faultsOf, read, shown } from './reading.ts'

const groups = (children: Record<string, string[]>): string =>
  `hosts: { x: }\ngroups:\n${Object.entries(children)
    .map(([name, below]) => `  ${name}: { children: [${below.join(', ')}] }\n`)
    .join('')}`

describe('groups in groups', () => {
  it.each([
    ['itself', { a: ['a'] }, ['3:19 Group a contains itself: a > a.']],
    ['two', { a: ['b'], b: ['a'] }, ['4:19 Group b contains itself: b > a > b.']],
    ['below others', { top: ['a'], a: ['b'], b: ['a', 'end'], end: [] }, ['5:19 Group b contains itself: b > a > b.']],
  ])('a cycle of %s is refused', (_, children, faults) => {
    expect(shown(faultsOf(groups(children)))).toEqual(faults)
  })

  it('each cycle is reported', () => {
    expect(faultsOf(groups({ a: ['b'], b: ['a', 'c'], c: ['d'], d: ['c'], e: ['e'] }))).toHaveLength(3)
  })

  it('a group reached on two ways is no cycle', () => {
    expect(read(groups({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })).groups).toHaveLength(6)
  })

  it('a chain may be longer than the call stack', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 12_000 }, (_, n) => [`g${n}`, n < 11_999 ? [`g${n + 1}`] : []]),
    )
    expect(read(groups(chain)).groups).toHaveLength(12_002)
  })
})
