import { describe, expect, it } from 'vitest'
import { faultsOf, names, read, shown } from './reading.ts'

describe('group members', () => {
  it('may be listed by range', () => {
    const { hosts } = read('hosts: { "n[1:4]": }\ngroups: { g: { hosts: ["n[2:3]"] } }')
    expect(names(hosts.filter((host) => host.groups.includes('g')))).toEqual(['n2', 'n3'])
  })

  it('are declared somewhere, and children are groups', () => {
    const faults = faultsOf(
      'hosts: { web1: }\ngroups: { g: { hosts: [wbe1], children: [gg] }, h: { children: [web1] } }',
    )
    expect(shown(faults)).toEqual([
      '2:24 Group g names the host wbe1, which nothing declares.',
      '2:42 Group g names the child "gg", which is no group.',
      '2:65 Group h names the child "web1", which is no group.',
    ])
    expect(faults[0]?.remedy).toBe('Did you mean web1?')
    expect(faults[1]?.remedy).toBe('Did you mean g?')
  })
})
