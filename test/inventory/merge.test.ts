import { describe, expect, it } from 'vitest'
import type { Inventory } from '../../src/inventory/host.ts'
import { readInventory } from '../../src/inventory/read.ts'
import { faultsOf, hostNamed, inputError, optionsWith, read, shown } from './reading.ts'

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

describe('the top levels of several sources', () => {
  const both = (prod: string, lab: string, ...more: string[]): Inventory =>
    readInventory(['prod.yaml', 'lab.yaml', ...more], optionsWith({ 'prod.yaml': prod, 'lab.yaml': lab }))
  const prod = 'user: ops\nvars: { stage: prod, ntp: pool }\nhosts: { p: }\n'
  const lab =
    'user: me\nbecome: true\nhost_key_policy: off\nvars: { stage: lab, ntp: pool }\ngroups: { g: { hosts: { l: } } }\n'

  it('are for the hosts that the source itself declares, whichever is read first', () => {
    for (const inventory of [both(prod, lab), both(lab, prod)]) {
      expect(hostNamed(inventory, 'p')).toMatchObject({
        user: 'ops',
        become: false,
        hostKeyPolicy: 'strict',
        vars: { stage: 'prod', ntp: 'pool' },
      })
      expect(hostNamed(inventory, 'l')).toMatchObject({
        user: 'me',
        become: true,
        hostKeyPolicy: 'off',
        vars: { stage: 'lab', ntp: 'pool' },
      })
    }
  })

  it('are not for a host that a group of the source only names', () => {
    const inventory = both(prod, 'become: true\nhost_key_policy: off\ngroups: { g: { hosts: [p], port: 2222 } }')
    expect(hostNamed(inventory, 'p')).toMatchObject({ become: false, hostKeyPolicy: 'strict', port: 2222 })
  })

  it('are not for a host of the command line', () => {
    expect(hostNamed(both(prod, lab, 'root@x,y'), 'y')).toMatchObject({ user: 'me', become: false, vars: {} })
    const other = both(prod, 'become: true\nhosts: { l: }', 'y,')
    expect(hostNamed(other, 'y')).toMatchObject({ become: false, hostKeyPolicy: 'strict' })
  })

  it('conflict for a host that both declare, unless something nearer settles it', () => {
    const twice = 'user: me\nvars: { stage: lab, ntp: pool }\nhosts: { p: }\n'
    expect(shown(inputError(() => both(prod, twice)).faults)).toEqual([
      '1:1 Host p user: "me" here, but "ops" at prod.yaml:1:1.',
      '2:9 Host p, variable stage: "lab" here, but "prod" at prod.yaml:2:9.',
    ])
    const settled = both(
      'user: ops\nport: 1\nhosts: { p: { user: own } }\ngroups: { g: { hosts: [p], port: 3 } }',
      'user: me\nport: 2\nbecome: true\nhosts: { p: }',
    )
    expect(hostNamed(settled, 'p')).toMatchObject({ user: 'own', port: 3, become: true })
  })

  it('a conflict of two top levels is one fault however many hosts share it', () => {
    const range = 'hosts: { "n[1:500]": }'
    expect(inputError(() => both(`port: 1\n${range}`, `port: 2\n${range}`)).faults).toHaveLength(1)
  })

  it('a jump host outside the inventory has the top level of the source that names it', () => {
    const inventory = both(
      'jump: u@bastion:22\nhosts: { p: }',
      'host_key_policy: off\nhosts: { l: { jump: u@bastion:22 } }',
    )
    expect(hostNamed(inventory, 'p').jump).toMatchObject([{ name: 'u@bastion:22', hostKeyPolicy: 'strict' }])
    expect(hostNamed(inventory, 'l').jump).toMatchObject([{ name: 'u@bastion:22', hostKeyPolicy: 'off' }])
  })

  it('the group all shows the variables that hold in all of them', () => {
    expect(both(prod, lab).groups[0]).toMatchObject({ name: 'all', vars: { ntp: 'pool' } })
    expect(both(prod, lab).groups[0]?.vars).not.toHaveProperty('stage')
  })
})
