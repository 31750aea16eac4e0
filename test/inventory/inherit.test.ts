import { describe, expect, it } from 'vitest'
import { faultsOf, hostNamed, read, shown } from './reading.ts'

describe('inheritance', () => {
  it('the nearest wins: host, child group, parent group, top level', () => {
    const inventory = read(`
user: top
port: 1
vars: { a: top, b: top, c: top, d: top }
hosts: { h: { vars: { a: host } }, lone: }
groups:
  parent: { children: [child], user: parent, vars: { a: parent, b: parent, c: parent } }
  child: { hosts: [h], vars: { a: child, b: child } }
`)
    expect(hostNamed(inventory, 'h')).toMatchObject({
      user: 'parent',
      port: 1,
      vars: { a: 'host', b: 'child', c: 'parent', d: 'top' },
      groups: ['all', 'parent', 'child'],
    })
    expect(hostNamed(inventory, 'lone')).toMatchObject({
      user: 'top',
      vars: { a: 'top' },
      groups: ['all', 'ungrouped'],
    })
  })

  it('a child beats its parent also where the host is in both, or reaches the parent on another way', () => {
    const both = read('groups: { p: { hosts: { h: }, children: [c], port: 1 }, c: { hosts: [h], port: 2 } }')
    expect(both.hosts[0]?.port).toBe(2)
    const diamond = read(
      'hosts: { h: }\ngroups: { p: { children: [x, y], port: 1 }, x: { hosts: [h] }, y: { hosts: [h], port: 2 } }',
    )
    expect(diamond.hosts[0]?.port).toBe(2)
  })

  it('groups that are not above one another must agree', () => {
    const text = (x: string, y: string): string =>
      `hosts: { h: }\ngroups:\n  x: { hosts: [h], ${x} }\n  y: { hosts: [h], ${y} }\n`
    expect(shown(faultsOf(text('port: 1', 'port: 2')))).toEqual(['4:20 Host h port: 2 here, but 1 at hosts.yaml:3:20.'])
    expect(shown(faultsOf(text('vars: { v: 1 }', 'vars: { v: "1" }')))).toEqual([
      '4:28 Host h, variable v: "1" here, but 1 at hosts.yaml:3:28.',
    ])
    expect(
      read(text('port: 1, vars: { v: [1, { a: b }] }', 'port: 1, vars: { v: [1, { a: b }] }')).hosts[0]?.port,
    ).toBe(1)
  })

  it("the host's own value settles what its groups differ about", () => {
    const inventory = read(
      'hosts: { h: { port: 3 } }\ngroups: { x: { hosts: [h], port: 1 }, y: { hosts: [h], port: 2 } }',
    )
    expect(inventory.hosts[0]?.port).toBe(3)
  })

  it('a conflict of two groups is one fault however many hosts share it', () => {
    const text =
      'hosts: { "n[1:500]": }\ngroups: { x: { hosts: ["n[1:500]"], port: 1 }, y: { hosts: ["n[1:500]"], port: 2 } }'
    expect(faultsOf(text)).toHaveLength(1)
  })
})
