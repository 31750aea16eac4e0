import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../src/inventory/endpoint.ts'

describe('parseEndpoint', () => {
  it.each([
    ['web1', { host: 'web1' }],
    ['web1:2222', { host: 'web1', port: 2222 }],
    ['root@web1', { host: 'web1', user: 'root' }],
    ['root@10.0.0.7:22', { host: '10.0.0.7', user: 'root', port: 22 }],
    ['2001:db8::1', { host: '2001:db8::1' }],
    ['[2001:db8::1]', { host: '2001:db8::1' }],
    ['[2001:db8::1]:22', { host: '2001:db8::1', port: 22 }],
    ['a@[::1]:22', { host: '::1', user: 'a', port: 22 }],
    ['web[1:3]', { host: 'web[1:3]' }],
    ['web[1:3]:22', { host: 'web[1:3]', port: 22 }],
    ['[1:3]', { host: '[1:3]' }],
    ['user@corp.example@web1', { host: 'web1', user: 'user@corp.example' }],
  ])('%s', (text, endpoint) => {
    expect(parseEndpoint(text)).toEqual(endpoint)
  })

  it.each(['web1:0', 'web1:65536', 'web1:ssh', 'web1:', '[::1]:', 'web1:-1', '-o@web1', '@web1', 'a b@web1'])(
    '%s is refused',
    (text) => {
      expect(parseEndpoint(text)).toHaveProperty('problem.remedy')
    },
  )
})
