import { describe, expect, it } from 'vitest'
import { faultsOf, read, shown } from './reading.ts'

describe('one machine under two names', () => {
  it.each([
    ['the same address', 'hosts: { a: { address: 10.0.0.7 }, b: { address: 10.0.0.7 } }'],
    ["another host's name", 'hosts: { a: , b: { address: a } }'],
    ['another case', 'hosts: { a: { address: X.example }, b: { address: x.example. } }'],
    ['another spelling', 'hosts: { a: { address: "2001:DB8:0::1" }, b: { address: 2001:db8::1 } }'],
    ['the same way', 'hosts: { j: , a: { address: x, jump: j }, b: { address: x, jump: j } }'],
  ])('%s is refused', (_, text) => {
    expect(shown(faultsOf(text))).toEqual([expect.stringMatching(/b is the same machine as a at hosts\.yaml:1:\d+/)])
  })

  it.each([
    ['another port', 'hosts: { a: { address: x }, b: { address: x, port: 23 } }'],
    ['another way', 'hosts: { j: , k: , a: { address: x, jump: j }, b: { address: x, jump: k }, c: { address: x } }'],
  ])('%s is another machine', (_, text) => {
    expect(read(text).hosts.length).toBeGreaterThan(1)
  })
})
