import { describe, expect, it } from 'vitest'
import { faultsOf, hostNamed, names, read, shown } from './reading.ts'

const way = (text: string, name = 'h'): string => names(hostNamed(read(text), name).jump).join(' ')

describe('jump hosts', () => {
  it.each([
    ['one', 'hosts: { b: , h: { jump: b } }', 'b'],
    ['several, nearest first', 'hosts: { b: , c: , h: { jump: [b, c] } }', 'b c'],
    ['the whole way of the first hop', 'hosts: { a: , b: { jump: a }, h: { jump: b } }', 'a b'],
    [
      'not the way of a later hop, which its predecessor reaches',
      'hosts: { x: , c: { jump: x }, b: , h: { jump: [b, c] } }',
      'b c',
    ],
    ['none by an empty list', 'jump: b\nhosts: { b: { jump: [] }, h: { jump: [] } }', ''],
    ['inherited', 'jump: b\nhosts: { b: { jump: [] }, h: }', 'b'],
  ])('%s', (_, text, wanted) => {
    expect(way(text)).toBe(wanted)
  })

  it('may stand outside the inventory, with the settings for every host', () => {
    const [hop] = hostNamed(
      read('known_hosts: k\nuser: x\nport: 5\nhosts: { h: { jump: "root@[::1]:2222" }, g: { jump: "u@gate" } }'),
      'h',
    ).jump
    expect(hop).toMatchObject({
      name: 'root@[::1]:2222',
      address: '::1',
      port: 2222,
      user: 'root',
      knownHostsFiles: ['/here/k'],
      jump: [],
    })
    expect(hostNamed(read('hosts: { g: { jump: "u@gate" } }'), 'g').jump[0]).toMatchObject({
      address: 'gate',
      port: 22,
    })
  })

  it.each([
    ['hosts: { bastion: , h: { jump: basiton } }', '1:26 The jump host "basiton" is not in the inventory.'],
    ['hosts: { h: { jump: "u@-x" } }', '1:15 The address "-x" begins with -, as an option does.'],
    ['hosts: { h: { jump: "u@a:0" } }', '1:15 "u@a:0" has a bad port.'],
    ['hosts: { h: { jump: h } }', '1:15 The way to h passes h twice.'],
    ['jump: b\nhosts: { b: , h: }', '1:1 The way to b passes b twice.'],
    ['hosts: { b: , h: { jump: [b, b] } }', '1:20 The way to h passes b twice.'],
  ])('%s', (text, fault) => {
    expect(shown(faultsOf(text))).toEqual([fault])
  })

  it('a cycle shows at each host on it', () => {
    expect(faultsOf('hosts: { a: { jump: b }, b: { jump: c }, c: { jump: a } }').length).toBeGreaterThan(0)
  })

  it('a way has an end', () => {
    const chain = Array.from({ length: 5000 }, (_, n) => `  h${n}: { jump: ${n === 0 ? '[]' : `h${n - 1}`} }\n`).join(
      '',
    )
    expect(shown(faultsOf(`hosts:\n${chain}`))[0]).toContain('The way to h9 has more than 8 hops.')
  })
})
