import { describe, expect, test } from 'vitest'
import type { Host } from '../../src/inventory/host.ts'
import { wayKey } from '../../src/transport/way-key.ts'
import { fakeHost } from './fake-host.ts'

/** Every field a host can have, or it does not compile: another value of it, and whether that is another way. */
const fields: Readonly<Record<keyof Host, readonly ['another way' | 'the same way', unknown]>> = {
  address: ['another way', '192.0.2.10'],
  port: ['another way', 2222],
  user: ['another way', 'other'],
  identityFiles: ['another way', ['/other']],
  identitiesOnly: ['another way', true],
  certificateFiles: ['another way', ['/other']],
  identityAgent: ['another way', '/other'],
  password: ['another way', { from: 'env', name: 'OTHER' }],
  knownHostsFiles: ['another way', ['/other']],
  hostKeyPolicy: ['another way', 'off'],
  hostKeyAlias: ['another way', 'other'],
  keepalive: ['another way', { intervalMs: 2, countMax: 1 }],
  sshOptions: ['another way', { destination: 'other' }],
  name: ['the same way', 'other'],
  become: ['the same way', true],
  becomeMethod: ['the same way', 'doas'],
  becomePassword: ['the same way', { from: 'env', name: 'OTHER' }],
  jump: ['the same way', [fakeHost()]],
  variant: ['the same way', 'container'],
  offline: ['the same way', true],
  transport: ['the same way', 'openssh'],
  given: ['the same way', ['port']],
  groups: ['the same way', ['other']],
  vars: ['the same way', { other: 1 }],
}

const gate = fakeHost({ name: 'gate', address: '192.0.2.9' })

describe.each(Object.entries(fields))('another %s', (field, [verdict, value]) => {
  test(`is ${verdict}`, () => {
    expect(gate[field as keyof Host]).not.toEqual(value)
    const isSame = wayKey([{ ...gate, [field]: value }]) === wayKey([gate])
    expect(isSame).toBe(verdict === 'the same way')
  })
})

test('neither the order of the fields nor one that is there without a value makes a difference', () => {
  const reversed = Object.fromEntries(Object.entries(gate).reverse()) as unknown as Host
  expect(wayKey([{ ...reversed, hostKeyAlias: undefined } as unknown as Host])).toBe(wayKey([gate]))
})

test('the same host behind another one is another way', () => {
  expect(wayKey([fakeHost({ address: '192.0.2.1' }), gate])).not.toBe(wayKey([gate]))
})
