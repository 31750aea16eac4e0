import { describe, expect, it } from 'vitest'
import { nearName, nearNames } from '../../src/inventory/near.ts'

describe('nearName', () => {
  it.each([
    ['prot', 'port'],
    ['usr', 'user'],
    ['identityfile', 'identity_file'],
    ['PORT', 'port'],
    ['zzzz', undefined],
    ['x', undefined],
    ['', undefined],
  ])('%s', (text, near) => {
    expect(nearName(text, ['port', 'user', 'identity_file'])).toBe(near)
  })

  it('gives up after its answers, so that many unknown names cost no more than some', () => {
    const near = nearNames(['port'], 2)
    expect([near('prot'), near('prot'), near('prot')]).toEqual(['port', 'port', undefined])
  })
})
