import { describe, expect, test } from 'vitest'
import { parseProxyJump } from '../../../src/transport/ssh-config/proxy-jump.ts'
import { named, noSsh, resolveBy } from './world.ts'

describe('ProxyJump', () => {
  test.each([
    ['gate', [{ text: 'gate', host: 'gate' }]],
    ['ada@gate:2201', [{ text: 'ada@gate:2201', host: 'gate', user: 'ada', port: 2201 }]],
    ['ssh://ada@gate:2201/', [{ text: 'ada@gate:2201', host: 'gate', user: 'ada', port: 2201 }]],
    ['a,[2001:db8::1]:22,::1', [{ host: 'a' }, { host: '2001:db8::1', port: 22 }, { host: '::1' }]],
    ['none', []],
    [undefined, []],
  ])('%s', (text, wanted) => {
    const found = parseProxyJump(text, 'web')
    expect(found).toHaveLength(wanted.length)
    expect(found).toMatchObject(wanted)
  })

  test.each(['gate:0', '-oProxyCommand=x', 'a,,b', 'a b'])('%j is refused', (text) => {
    expect(() => parseProxyJump(text, 'web')).toThrow(expect.objectContaining({ code: 'ssh-config-invalid' }))
  })
})

describe.each([
  ['by ssh', {}],
  ['without ssh', noSsh],
])('ways %s', (_, means) => {
  const wayOf = async (config: string, host = named('web')) =>
    (await resolveBy(config, [host], means)).hosts[0]?.jump.map(
      ({ address, port, user }) => `${user}@${address}:${port}`,
    )
  const hops = 'Host a\n  HostName a.example\n  User ada\n  Port 2201\nHost b\n  HostName b.example\n  User bob\n'

  test('each hop is what its own block says, but for what the list says', async () => {
    expect(await wayOf(`${hops}Host web\n  ProxyJump a,carl@b:99\n`)).toEqual([
      'ada@a.example:2201',
      'carl@b.example:99',
    ])
  })

  test('the first hop may have a way of its own; that of the others is the list', async () => {
    const nested = `${hops}Host a\n  ProxyJump b\nHost c\n  User cyd\n  ProxyJump nobody\nHost web\n  ProxyJump a,c\n`
    expect(await wayOf(nested)).toEqual(['bob@b.example:22', 'ada@a.example:2201', 'cyd@c:22'])
  })

  test('none ends it, and a way of the inventory stands', async () => {
    expect(await wayOf('Host web\n  ProxyJump none\nHost *\n  ProxyJump a\n')).toEqual([])
    expect(await wayOf('ProxyJump a\n', named('web', { given: ['jump'] }))).toEqual([])
    const jump = [named('b', { given: ['jump'] })]
    expect(await wayOf(`${hops}Host web\n  ProxyJump a\n`, named('web', { jump, given: ['jump'] }))).toEqual([
      'bob@b.example:22',
    ])
  })

  test('what leads to itself or too far is refused', async () => {
    for (const config of ['Host a\n  ProxyJump b\nHost b\n  ProxyJump a\nHost web\n  ProxyJump a\n', 'ProxyJump a\n']) {
      await expect(wayOf(config)).rejects.toMatchObject({
        code: 'ssh-config-invalid',
        remedy: expect.stringContaining('`ProxyJump none`'),
      })
    }
    const long = Array.from({ length: 9 }, (_, index) => `h${index}`).join(',')
    await expect(wayOf(`Host web\n  ProxyJump ${long}\n`)).rejects.toMatchObject({
      message: expect.stringContaining('more than 8 hops'),
    })
  })
})
