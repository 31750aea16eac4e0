import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MachineIdentity } from '../../src/runner/identity.ts'
import { createMachines } from '../../src/runner/machines.ts'

const machine = (letter: string, pid1Start = '1'): MachineIdentity => ({
  machineId: letter.repeat(32),
  bootId: '0f3a1f6e-1111-4222-8333-444455556666',
  pid1Start,
})

const met = (...all: readonly (readonly [host: string, machine: MachineIdentity])[]) => {
  const machines = createMachines()
  for (const [host, which] of all) machines.meet(host, which)
  return machines
}

describe('one machine under two names', () => {
  const machines = met(['one', machine('a')], ['two', machine('b')], ['again', machine('a')])
  test('may be changed as the first', () => {
    expect([machines.refusal('one'), machines.refusal('two')]).toEqual([null, null])
  })
  test('is refused as the second, which names the first', () => {
    expect(machines.refusal('again')).toMatchObject({ code: 'same-machine', message: expect.stringContaining('one') })
  })
  test('is told of once', () => {
    expect(machines.notices()).toEqual(['one, again are one machine: the same machine-id, on the same boot'])
  })
})

test('clones with one machine-id and boots of their own are changed, and told of', () => {
  const machines = met(['one', machine('a', '1')], ['two', machine('a', '2')])
  expect([machines.refusal('one'), machines.refusal('two')]).toEqual([null, null])
  expect(machines.notices()).toEqual([expect.stringMatching(/^one, two have the same machine-id and are not one/)])
})

test('a host that never said who it is may be changed', () => {
  expect(met(['one', machine('a')]).refusal('two')).toBeNull()
})

describe('a machine that is booted meanwhile', () => {
  test('stays what it is, and takes its other names along', () => {
    const machines = met(['one', machine('a', '1')], ['two', machine('a', '1')], ['one', machine('a', '2')])
    expect(machines.refusal('one')).toBeNull()
    expect(machines.refusal('two')?.message).toContain('one')
    expect(machines.notices()).toEqual(['one, two are one machine: the same machine-id, on the same boot'])
  })
  test('is known again under a name that is looked at only after it', () => {
    const machines = met(['one', machine('a', '1')], ['one', machine('a', '2')], ['two', machine('a', '2')])
    expect(machines.refusal('two')?.message).toContain('one')
  })
})

test('a long list of names ends with how many there are', () => {
  const names = Array.from({ length: 200 }, (_, index) => `h${index}`)
  const [notice, ...more] = met(...names.map((name) => [name, machine('a')] as const)).notices()
  expect(notice).toContain('h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 190 more')
  expect(more).toEqual([])
})

test('of all names of one machine exactly the first may be changed, in whatever order they come', () => {
  const meeting = fc.tuple(fc.constantFrom(...'pqrstuvw'), fc.constantFrom(...'abc'))
  fc.assert(
    fc.property(fc.array(meeting), (all) => {
      // A name leads to one machine.
      const letters = new Map(all.toReversed())
      const order = all.map(([host]) => [host, letters.get(host) as string] as const)
      const machines = met(...order.map(([host, letter]) => [host, machine(letter)] as const))
      for (const letter of 'abc') {
        const hosts = [...new Set(order.flatMap(([host, which]) => (which === letter ? [host] : [])))]
        expect(hosts.filter((host) => machines.refusal(host) === null)).toEqual(hosts.slice(0, 1))
      }
    }),
  )
})
