import { describe, expect, it } from 'vitest'
import { patternTerms } from '../../src/inventory/pattern-terms.ts'

const hosts = new Set(['2001:db8::1', 'fe80::1%eth0', 'web1'])
const terms = (pattern: string): string[] =>
  patternTerms(pattern, (name) => hosts.has(name)).map(({ role, text }) => `${role} ${text}`)

describe('patternTerms', () => {
  it.each([
    ['a', ['add a']],
    ['a,b:c', ['add a', 'add b', 'add c']],
    ['a:&b:!c', ['add a', 'keep b', 'drop c']],
    ['a, & b ,! c', ['add a', 'keep b', 'drop c']],
    [' a , , b: ', ['add a', 'add b']],
    ['', []],
    [',:!:&', []],
    ['2001:db8::1', ['add 2001:db8::1']],
    ['web1:!2001:db8::1:&fe80::1%eth0,x', ['add web1', 'drop 2001:db8::1', 'keep fe80::1%eth0', 'add x']],
    ['2001:db8::9', ['add 2001:db8::9']],
    ['[2001:db8::1]:web1', ['add [2001:db8::1]', 'add web1']],
    ['web[1:5]:x', ['add web[1:5]', 'add x']],
    ['~a{1,2}(?:x|y):b', ['add ~a{1,2}(?:x|y)', 'add b']],
    ['!~a\\(:b', ['drop ~a\\(', 'add b']],
    ['@a:b.txt,!@c', ['add @a:b.txt', 'drop @c']],
    ['a[b', ['add a[b']],
    [`${','.repeat(500)}a`, ['add a']],
  ])('%s', (pattern, wanted) => {
    expect(terms(pattern)).toEqual(wanted)
  })
})
