import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Host } from '../../../src/inventory/host.ts'
import { askSsh } from '../../../src/transport/ssh-config/ask-ssh.ts'
import { directoryWith, localUser, named, noSsh, resolveBy } from './world.ts'

/** Short names and patterns that meet often. */
const name = fc.constantFrom(
  'a',
  'b',
  'a1',
  'a2',
  'b1',
  'ab',
  'web',
  'WEB',
  'a.example.com',
  'x.example.com',
  '10.0.0.7',
)
const pattern = fc.constantFrom('*', 'a*', '!a1', 'a?', 'b*', '*.example.com', 'web', 'WEB', '10.*', '!b', 'x', '!*b*')
const patterns = fc.array(pattern, { minLength: 1, maxLength: 3 })

const setting = fc.constantFrom(
  'HostName %h.example.com',
  'HostName x.example.com',
  'HostName B.Example.com',
  'User ada',
  'User bob',
  'Port 2201',
  'Port = 2202',
  'IdentityFile ~/.ssh/one',
  'IdentityFile "/tmp/two words"',
  'IdentityFile /keys/%h-%n',
  'IdentitiesOnly yes',
  'IdentityAgent /run/agent-%h',
  'IdentityAgent none',
  'ProxyJump ada@gate:2203,[::1]:2204',
  'ProxyJump none',
  'ProxyCommand nc %h %p # not a comment',
  'UserKnownHostsFile /tmp/kh-%h /tmp/kh2',
  'GlobalKnownHostsFile none',
  'StrictHostKeyChecking accept-new',
  'StrictHostKeyChecking no',
  'StrictHostKeyChecking ask # strict',
  'HostKeyAlias Alias',
  'CertificateFile ~/cert-%r.pub',
  'ServerAliveInterval 1m',
  'ServerAliveCountMax 7',
  'SetEnv A=b',
  'GSSAPIAuthentication yes',
)
const condition = fc.oneof(
  { weight: 4, arbitrary: patterns.map((list) => `Host ${list.join(' ')}`) },
  { weight: 1, arbitrary: patterns.map((list) => `Match host ${list.join(',')}`) },
  { weight: 1, arbitrary: patterns.map((list) => `Match originalhost ${list.join(',')}`) },
  { weight: 1, arbitrary: patterns.map((list) => `Match !host ${list.join(',')}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('Match user ada', 'Match !user bob host a*', 'Match localuser *', 'Match all'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Match final all',
      'Match final host *.example.com',
      'Match !final host a*',
      'Match canonical user ada',
      'Match !canonical originalhost web',
    ),
  },
)
const block = fc
  .tuple(condition, fc.array(setting, { maxLength: 4 }))
  .map(([head, body]) => [head, ...body].join('\n  '))
const config = fc
  .tuple(fc.array(setting, { maxLength: 2 }), fc.array(block, { maxLength: 6 }))
  // The hops are reached directly, or every way would lead through itself.
  .map(([top, blocks]) => `${['Host gate ::1', '  ProxyJump none', 'Match all', ...top, ...blocks].join('\n')}\n`)
/** What tells the hosts apart, so that no two of them become one machine. */
const apart = fc.constantFrom('port', 'jump')
const fleet = fc
  .tuple(fc.uniqueArray(name, { minLength: 2, maxLength: 11 }), apart, fc.array(fc.boolean(), { maxLength: 11 }))
  .map(([names, by, users]) =>
    names.map((one, index): Host => {
      const user = users[index] ? ({ user: 'ada', given: ['user'] } as const) : { given: [] }
      if (by === 'port') return named(one, { ...user, port: 3000 + index, given: [...user.given, 'port'] })
      const hop = named(`hop-${index}`, { given: ['address', 'user', 'port', 'jump'] })
      return named(one, { ...user, jump: [hop], given: [...user.given, 'jump'] })
    }),
  )

const resolved = async (text: string, hosts: readonly Host[], options = {}): Promise<readonly Host[]> =>
  (await resolveBy(text, hosts, options)).hosts

test('hosts resolved together are as each would be alone', async () => {
  await fc.assert(
    fc.asyncProperty(config, fleet, async (text, hosts) => {
      const alone = await Promise.all(hosts.map((host) => resolved(text, [host])))
      expect(await resolved(text, hosts)).toEqual(alone.flat())
    }),
    { numRuns: 10 },
  )
}, 120_000)

test('what drover reads without ssh is what ssh says', async () => {
  await fc.assert(
    fc.asyncProperty(config, name, async (text, one) => {
      expect(await resolved(text, [named(one)], noSsh)).toEqual(await resolved(text, [named(one)]))
    }),
    { numRuns: 25 },
  )
}, 120_000)

test('the values are those that ssh -G prints', async () => {
  await fc.assert(
    fc.asyncProperty(config, name, async (text, one) => {
      const path = join(directoryWith({ config: text }), 'config')
      const printed = await askSsh(
        { program: 'ssh', env: process.env, source: { kind: 'file', path } },
        { name: one, user: undefined },
      )
      const [host = named('')] = await resolved(text, [named(one)])
      const said = (keyword: string) => printed?.get(keyword)?.[0]
      expect(host).toMatchObject({ address: said('hostname'), port: Number(said('port')) })
      expect(host.user).toBe(said('user') ?? localUser)
      expect(host.hostKeyAlias).toBe(said('hostkeyalias'))
      if (host.knownHostsFiles.length > 0 && !host.knownHostsFiles.includes('/dev/null'))
        expect(host.knownHostsFiles.join(' ')).toBe(
          [said('userknownhostsfile'), said('globalknownhostsfile')].filter((list) => list !== 'none').join(' '),
        )
      const agent = said('identityagent')
      expect(host.identityAgent).toBe(agent)
    }),
    {
      numRuns: 25,
      // A HostName of the last pass comes too late.
      examples: [['Match final all\n  HostName %h.example.com\n  Port 2201\n', 'a']],
    },
  )
}, 120_000)
