import { describe, expect, it } from 'vitest'
import { inventoryJson } from '../../src/inventory/inventory-json.ts'
import { read } from './reading.ts'

describe('inventoryJson', () => {
  it('survives JSON unchanged, with hops by name', () => {
    const inventory = read(`
hosts: { bastion: , web1: { jump: bastion, vars: { a: [1, { b: null }] } } }
groups: { web: { hosts: [web1] } }
`)
    const view = inventoryJson(inventory)
    expect(JSON.parse(JSON.stringify(view))).toEqual(view)
    expect(view.hosts[1]).toMatchObject({ name: 'web1', jump: ['bastion'], vars: { a: [1, { b: null }] } })
    expect(view.groups.map((group) => group.name)).toEqual(['all', 'ungrouped', 'web'])
  })
})
