import { describe, expect, it } from 'vitest'
import { graph } from '../../src/inventory/graph.ts'
import { read } from './reading.ts'

describe('graph', () => {
  it('is the tree that Ansible draws', () => {
    const inventory = read(`
hosts: { lone: }
groups:
  prod: { children: [web], hosts: [lone2] , vars: { a: 1 } }
  web: { hosts: { web1: , web2: } }
  other: { hosts: { lone2: } }
`)
    expect(graph(inventory)).toBe(`@all:
  |--@ungrouped:
  |  |--lone
  |--@prod:
  |  |--@web:
  |  |  |--web1
  |  |  |--web2
  |  |--lone2
  |--@other:
  |  |--lone2
`)
  })

  it('draws a group with two parents once in full', () => {
    const inventory = read('groups: { a: { children: [c] }, b: { children: [c] }, c: { hosts: { h: } } }')
    expect(graph(inventory).match(/h$/gm)).toHaveLength(1)
    expect(graph(inventory)).toContain('@c: (see above)')
  })

  it('stays small where groups meet again and again', () => {
    const layers = Array.from({ length: 40 }, (_, layer) => {
      const below = layer < 39 ? `children: [a${layer + 1}, b${layer + 1}]` : 'hosts: [h]'
      return `  a${layer}: { ${below} }\n  b${layer}: { ${below} }\n`
    })
    const lines = graph(read(`hosts: { h: }\ngroups:\n${layers.join('')}`)).split('\n')
    expect(lines.length).toBeLessThan(250)
  })
})
