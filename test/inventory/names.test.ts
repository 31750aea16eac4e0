import { describe, expect, it } from 'vitest'
import { nameProblem, userProblem } from '../../src/inventory/names.ts'

describe('host names', () => {
  it.each(['web1', 'web-1.example.com', '_x', '10.0.0.7', '2001:db8::1', 'fe80::1%eth0', '::1', '007'])(
    '%s',
    (name) => {
      expect(nameProblem('host name', name)).toBeUndefined()
    },
  )

  it.each([
    '',
    '-oProxyCommand=x',
    'a b',
    'a\tb',
    'a\nb',
    'a\0b',
    '$(x)',
    '`x`',
    'a;b',
    'a|b',
    'a/b',
    '..',
    '.x',
    'a*',
    "a'b",
    'a"b',
    'a\\b',
    'host:22',
    '[::1]',
    'a@b',
    'ü',
    'a,b',
    'a&b',
    '~x',
    '@x',
    '!x',
    '__proto__ x',
    'x'.repeat(254),
  ])('%j is refused', (name) => {
    expect(nameProblem('host name', name)).toHaveProperty('remedy')
  })
})

describe('users', () => {
  it.each(['root', 'a.b', 'svc-1', 'bob@corp.example', 'host$', '_apt'])('%s', (user) => {
    expect(userProblem(user)).toBeUndefined()
  })

  it.each(['', '-l', 'a b', 'a;b', '$x', 'a\nb', 'a:b', '.a', 'x'.repeat(129)])('%j is refused', (user) => {
    expect(userProblem(user)).toHaveProperty('remedy')
  })
})
