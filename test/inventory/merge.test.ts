import { describe, expect, it } from 'vitest'
import { faultsOf, hostNamed, read, shown } from './reading.ts'

describe('hosts and groups of several places', () => {
  it.each([
    [
      'a setting of a host',
      'hosts: { a: { port: 1 } }\ngroups: { g: { hosts: { a: { port: 2 } } } }',
      '2:30 Host a port: 2 here, but 1 at hosts.yaml:1:15.',
    ],
    [
      'a variable of a host',
      'hosts: { a: { vars: { v: 1 } } }\ngroups: { g: { hosts: { a: { vars: { v: [2] } } } } }',
      '2:38 Host a, variable v: [2] here, but 1 at hosts.yaml:1:23.',
    ],
    [
      'a range over a host',
      'hosts: { n2: { port: 1 }, "n[1:3]": { port: 2 } }',
      '1:39 Host n2 port: 2 here, but 1 at hosts.yaml:1:16.',
    ],
  ])('%s given twice with different values is a conflict', (_, text, fault) => {
    expect(shown(faultsOf(text))).toEqual([fault])
  })

  it('conflicts across sources name both', () => {
    expect(shown(faultsOf('hosts: { a: { port: 1 } }', 'a:2,'))).toEqual([
      '1:1 Host a port: 2 here, but 1 at hosts.yaml:1:15.',
    ])
  })

  it('puts what two places say together', () => {
    const host = hostNamed(
      read('hosts: { a: { port: 1, vars: { v: 1 } } }\ngroups: { g: { hosts: { a: { user: u, vars: { w: 2 } } } } }'),
      'a',
    )
    expect(host).toMatchObject({ port: 1, user: 'u', vars: { v: 1, w: 2 }, groups: ['all', 'g'] })
  })

  it.each([
    ['groups: { all: {} }\nhosts: { a: }', '1:11 The group all is made by drover.'],
    ['groups: { ungrouped: {} }\nhosts: { a: }', '1:11 The group ungrouped is made by drover.'],
    ['hosts: { all: , b: }', '1:10 all is the name of a group that drover makes.'],
    ['hosts: { a: }\ngroups: { a: }', '2:11 a is a group and a host.'],
    ['hosts: { a: }\ngroups: { "g[1:2]": }', '2:11 "g[1:2]" cannot be a group name.'],
    ['hosts: { "a[5:1]": , b: }', '1:10 "a[5:1]" holds a bad range. A range runs upwards.'],
    ['hosts: { "a b": , c: }', '1:10 "a b" cannot be a host name.'],
    ['hosts: { "a\\0b": , c: }', '1:10 "a\\u0000b" cannot be a host name.'],
    ['hosts: { "h:22": , c: }', '1:10 "h:22" cannot be a host name.'],
    ['hosts: { "[::1]": , c: }', '1:10 "[::1]" cannot be a host name.'],
  ])('%s is refused', (text, fault) => {
    expect(shown(faultsOf(text))).toEqual([fault])
  })
})
