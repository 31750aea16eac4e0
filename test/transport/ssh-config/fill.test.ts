import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Host } from '../../../src/inventory/host.ts'
import { directoryWith, home, localUser, named, noSsh, resolveBy } from './world.ts'

const everything = `Host web
  HostName web.example.com
  User ada
  Port 2222
  IdentityFile /keys/web
  IdentitiesOnly yes
  IdentityAgent /run/agent
  CertificateFile /keys/web-cert.pub
  UserKnownHostsFile /etc/fleet/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking accept-new
  HostKeyAlias web-alias
  ServerAliveInterval 20
  ServerAliveCountMax 2
`

const one = async (config: string, host: Host, options = {}): Promise<Host | undefined> =>
  (await resolveBy(config, [host], options)).hosts[0]

describe.each([
  ['by ssh', {}],
  ['without ssh', noSsh],
])('%s', (_, means) => {
  test('ssh_config fills in what nobody gave', async () => {
    expect(await one(everything, named('web'), means)).toMatchObject({
      name: 'web',
      address: 'web.example.com',
      user: 'ada',
      port: 2222,
      identityFiles: ['/keys/web'],
      identitiesOnly: true,
      identityAgent: '/run/agent',
      certificateFiles: ['/keys/web-cert.pub'],
      knownHostsFiles: ['/etc/fleet/known_hosts'],
      hostKeyPolicy: 'accept-new',
      hostKeyAlias: 'web-alias',
      keepalive: { intervalMs: 20_000, countMax: 2 },
      sshOptions: { destination: 'web' },
    })
  })

  test.each<[string, Partial<Host>]>([
    ['user', { user: 'bob', given: ['user'] }],
    ['port', { port: 2201, given: ['port'] }],
    ['identityFiles', { identityFiles: ['/keys/own'], given: ['identityFiles'] }],
    ['certificateFiles', { certificateFiles: ['/keys/own-cert.pub'], given: ['certificateFiles'] }],
    ['knownHostsFiles', { knownHostsFiles: ['/own'], given: ['knownHostsFiles'] }],
    ['hostKeyPolicy', { hostKeyPolicy: 'strict', given: ['hostKeyPolicy'] }],
    ['hostKeyAlias', { hostKeyAlias: 'own', given: ['hostKeyAlias'] }],
  ])('%s given by inventory or command line stands', async (field, given) => {
    const host = await one(everything, named('web', given), means)
    expect(host).toMatchObject({ ...given, ...(field !== 'user' && { user: 'ada' }) })
  })

  test('an address that is given is what the patterns are compared with, and HostName does not replace it', async () => {
    const config = 'Host web\n  User wrong\nHost 10.0.0.*\n  HostName elsewhere\n  User right\n'
    const host = await one(config, named('web', { address: '10.0.0.7', given: ['address'] }), means)
    expect(host).toMatchObject({ name: 'web', address: '10.0.0.7', user: 'right' })
  })

  test.each([
    ['yes', 'strict'],
    ['ask', 'strict'],
    ['accept-new', 'accept-new'],
    ['no', 'off'],
    ['off', 'off'],
  ])('StrictHostKeyChecking %s is the policy %s', async (word, hostKeyPolicy) => {
    expect(await one(`StrictHostKeyChecking ${word}\n`, named('a'), means)).toMatchObject({ hostKeyPolicy })
  })

  test('tokens, ~ and variables in paths are those of the host', async () => {
    const config = 'HostName %h.example.com\nUser ada\nIdentityFile ~/.ssh/%n-%h-%r-%p-%%\nIdentityAgent $SOCKET\n'
    expect(await one(config, named('a'), { ...means, env: { SOCKET: '/run/s' } })).toMatchObject({
      identityFiles: [`${home}/.ssh/a-a.example.com-ada-22-%`],
      identityAgent: means === noSsh ? '/run/s' : expect.stringMatching(/^\/run\/s$/),
    })
  })

  test('an include counts where it stands, relative ones and globs too', async () => {
    const directory = directoryWith({
      config: 'Host a\n  Include DIR/of-a\nInclude DIR/conf.d/*.conf\nPort 99\n',
      'of-a': 'User ada\nHost b\n  User never\n',
      'conf.d/1.conf': 'Port 2201\n',
      'conf.d/2.conf': 'Port 2202\nHost *\n  User other\n',
    })
    writeFileSync(
      join(directory, 'config'),
      `Host a\n  Include ${directory}/of-a\nMatch all\nInclude ${directory}/conf.d/*.conf\nPort 99\n`,
    )
    const { hosts } = await resolveBy('', [named('a'), named('b')], {
      ...means,
      source: { kind: 'file', path: join(directory, 'config') },
    })
    expect(hosts).toMatchObject([
      { user: 'ada', port: 2201 },
      { user: 'other', port: 2201 },
    ])
  })

  test('identities are added up, none is no identity, and defaults are not taken for named ones', async () => {
    expect(await one('IdentityFile /a\nIdentityFile /b\nIdentityFile /a\n', named('a'), means)).toMatchObject({
      identityFiles: ['/a', '/b'],
    })
    expect(await one('IdentityFile none\n', named('a'), means)).toMatchObject({ identityFiles: [] })
  })
})

test('without a word on keys the default ones that are there and open are offered', async () => {
  const accountHome = directoryWith({ config: '' })
  mkdirSync(join(accountHome, '.ssh'))
  const pem = (word: string) => `-----BEGIN ${word}PRIVATE KEY-----\nx\n-----END ${word}PRIVATE KEY-----\n`
  writeFileSync(join(accountHome, '.ssh/id_rsa'), pem(''))
  writeFileSync(join(accountHome, '.ssh/id_ecdsa'), pem('ENCRYPTED '))
  const keys = async (options = {}, host = named('a'), config = '') =>
    (await one(config, host, { home: accountHome, ...options }))?.identityFiles.map((file) => file.split('/').at(-1))
  expect(await keys()).toEqual(['id_rsa'])
  expect(await keys({ opensKeys: true })).toEqual(['id_ecdsa', 'id_rsa'])
  expect(await keys({ source: { kind: 'none' } })).toEqual(['id_rsa'])
  expect(await keys({}, named('a'), 'IdentitiesOnly yes\n')).toEqual(['id_ecdsa', 'id_rsa'])
  expect(await keys({}, named('a', { given: ['identityFiles'] }))).toEqual([])
})

describe('what ssh_config makes of a request that is wrong', () => {
  test('a fault in the file is what ssh says of it, with file and line', async () => {
    await expect(resolveBy('Host a\n  Bogus x\n', [named('a')])).rejects.toMatchObject({
      code: 'ssh-config-invalid',
      message: expect.stringMatching(/config: line 2: Bad configuration option: bogus$/),
    })
  })

  test.each([{}, noSsh])('a file that is not there is named', async (means) => {
    await expect(
      resolveBy('', [named('a')], { ...means, source: { kind: 'file', path: '/nowhere/config' } }),
    ).rejects.toMatchObject({ code: 'ssh-config-invalid', faults: [{ file: '/nowhere/config' }] })
  })

  test('two names that become one machine are refused', async () => {
    await expect(resolveBy('HostName x\n', [named('a'), named('b')])).rejects.toMatchObject({
      code: 'inventory-invalid',
      message: 'By ssh_config b is the same machine as a: x port 22.',
    })
  })
})

describe('what is not honoured', () => {
  const notices = async (config: string, hosts: readonly Host[], options = {}) =>
    (await resolveBy(config, hosts, options)).notices.map((notice) => notice.replace(/\/tmp\/[^:]*/, 'FILE'))

  test('is said once for all hosts, with its place', async () => {
    const hosts = [named('a'), named('b'), named('c')]
    expect(await notices('Host a b\n  SetEnv A=b\n  RemoteCommand x\nHost c\n  BindAddress ::1\n', hosts)).toEqual([
      'ssh_config: SetEnv is not honoured (2 hosts, a the first; FILE:2)',
      'ssh_config: RemoteCommand is not honoured (2 hosts, a the first; FILE:3)',
      'ssh_config: BindAddress is not honoured (c; FILE:5)',
    ])
  })

  test.each([
    ['ProxyCommand nc %h %p', { proxyCommand: 'nc %h %p' }],
    ['GSSAPIAuthentication yes', { gssapi: true }],
    ['PKCS11Provider /usr/lib/p.so', { pkcs11Provider: '/usr/lib/p.so' }],
    ['KexAlgorithms sntrup761x25519-sha512@openssh.com', { kexAlgorithms: ['sntrup761x25519-sha512@openssh.com'] }],
    ['Ciphers aes192-ctr', { ciphers: ['aes192-ctr'] }],
  ])('%s is a matter of the openssh client, and told where ssh2 was chosen', async (line, options) => {
    expect(await notices(`${line}\n`, [named('a')])).toEqual([])
    const [keyword = ''] = line.split(' ')
    expect(await notices(`${line}\n`, [named('a', { transport: 'ssh2' })])).toEqual([
      `ssh_config: ${keyword} is not honoured by the transport ssh2 (a; FILE:1)`,
    ])
    expect(await one(`${line}\n`, named('a'))).toMatchObject({ sshOptions: options })
  })

  test.each([
    'LocalCommand echo x',
    'PasswordAuthentication yes',
    'AddressFamily any',
    'VerifyHostKeyDNS no',
    'Compression yes',
    'ControlMaster auto',
    'ForwardX11 yes',
    'ServerAliveInterval 15',
  ])('%s is nothing to tell', async (line) => expect(await notices(`${line}\n`, [named('a')])).toEqual([]))

  test('a short ServerAliveInterval is taken, and told', async () => {
    expect(await notices('ServerAliveInterval 5\n', [named('a')])).toEqual([
      'ssh_config: ServerAliveInterval 5 is short: a slow link may look dead (a)',
    ])
  })

  test('without an ssh client, conditions that only it can decide are told', async () => {
    expect(await notices('Match exec "true"\n  User ada\n', [named('a'), named('b')], noSsh)).toEqual([
      expect.stringMatching(/no ssh client.*\(2 hosts, a the first\)$/),
    ])
    expect((await resolveBy('Match exec "true"\n  User ada\n', [named('a')], noSsh)).hosts[0]?.user).toBe(localUser)
    expect((await resolveBy('Match exec "true"\n  User ada\n', [named('a')])).hosts[0]?.user).toBe('ada')
  })
})

describe('how often ssh is asked', () => {
  const fleet = Array.from({ length: 10_000 }, (_, index) => named(`${index % 2 ? 'web' : 'db'}-${index}`))

  test('ten thousand hosts and three patterns are three questions', async () => {
    const config = 'Host web-*\n  User ada\nHost web-1\n  Port 99\nHost *\n  HostName %h.example.com\n'
    const { hosts, asked } = await resolveBy(config, fleet)
    expect(asked).toBe(3)
    expect(hosts[9999]).toMatchObject({ user: 'ada', address: 'web-9999.example.com', port: 22 })
    expect(hosts[1]).toMatchObject({ port: 99 })
  }, 30_000)

  test('none where no file says anything', async () => {
    expect((await resolveBy('# nothing\n', fleet)).asked).toBe(0)
  })

  test('each where a command decides', async () => {
    expect((await resolveBy('Match exec "true"\n  User ada\n', fleet.slice(0, 20))).asked).toBe(20)
  })
})
