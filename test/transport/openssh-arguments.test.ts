import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import { type MasterArguments, masterArguments } from '../../src/transport/openssh/arguments.ts'
import { refuseUnsafeWords } from '../../src/transport/openssh/unsafe-words.ts'
import { isSafeAddress, isSafePath, isSafeUser, unsafeWords } from '../../src/transport/openssh/words.ts'
import { fakeHost } from './fake-host.ts'

const given = (over: Partial<MasterArguments> = {}): MasterArguments => ({
  host: fakeHost(),
  controlPath: '/run/user/0/drover-x/s',
  keepalive: { intervalMs: 15_000, countMax: 3 },
  deadlines: { connectMs: 10_000, handshakeMs: 20_000 },
  mayAsk: false,
  hasPassword: false,
  identitiesOnly: false,
  ...over,
})

const optionsOf = (argv: readonly string[]): Map<string, string[]> => {
  const found = new Map<string, string[]>()
  for (const [index, word] of argv.entries()) {
    if (word !== '-o') continue
    const [name = '', ...value] = (argv[index + 1] ?? '').split('=')
    found.set(name, [...(found.get(name) ?? []), value.join('=')])
  }
  return found
}
const optionsFor = (over: Partial<MasterArguments> = {}) => optionsOf(masterArguments(given(over)))

describe('the command line of a connection', () => {
  test('names the host last, behind the end of the options', () => {
    const host = fakeHost({ address: '192.0.2.7', user: 'core', port: 2200 })
    const argv = masterArguments(given({ host }))
    expect(argv.slice(-2)).toEqual(['--', '192.0.2.7'])
    expect(argv.join(' ')).toContain('-N -T -S /run/user/0/drover-x/s -l core -p 2200')
    expect(argv).not.toContain('-F')
  })

  test('asks for the name by which the user configured the host', () => {
    const host = fakeHost({ address: '192.0.2.7', sshOptions: { destination: 'web7' } })
    expect(masterArguments(given({ host, sshConfig: '/home/u/fleet.conf' }))).toEqual(
      expect.arrayContaining(['-F', '/home/u/fleet.conf', '--', 'web7']),
    )
  })

  test('keeps to the address that the inventory or ssh_config gives, by whatever name it asks', () => {
    const host = fakeHost({ address: 'fe80::1%eth0', sshOptions: { destination: 'web7' } })
    expect(optionsFor({ host }).get('HostName')).toEqual(['fe80::1%%eth0'])
    expect(optionsFor().has('HostName')).toBe(false)
  })

  test.each([
    ['ControlMaster', 'yes'],
    ['ControlPersist', 'no'],
    ['ForkAfterAuthentication', 'no'],
    ['RemoteCommand', 'none'],
    ['PermitLocalCommand', 'no'],
    ['ClearAllForwardings', 'yes'],
    ['ForwardAgent', 'no'],
    ['EscapeChar', 'none'],
    ['LogLevel', 'DEBUG1'],
    ['ServerAliveInterval', '15'],
    ['ServerAliveCountMax', '3'],
    ['ConnectTimeout', '30'],
    ['NumberOfPasswordPrompts', '1'],
    ['BatchMode', 'yes'],
  ])('sets %s=%s against whatever the user has', (name, value) => {
    expect(optionsFor().get(name)).toEqual([value])
  })

  test('a name may have several addresses, and ssh goes on to the next one by its own timeout', () => {
    const host = fakeHost({ address: 'web.example' })
    expect(optionsFor({ host }).get('ConnectTimeout')).toEqual(['10'])
    expect(optionsFor({ host, jumpPath: '/run/user/0/drover-x/j' }).get('ConnectTimeout')).toEqual(['30'])
  })

  test.each([
    ['strict', 'yes', ['/etc/fleet_hosts'], '"/etc/fleet_hosts"'],
    ['accept-new', 'accept-new', ['/etc/fleet_hosts'], '"/run/learn" "/etc/fleet_hosts"'],
    ['off', 'no', ['/etc/fleet_hosts'], '"/run/learn"'],
  ] as const)('host key policy %s', (hostKeyPolicy, checking, knownHostsFiles, files) => {
    const learnFile = hostKeyPolicy === 'strict' ? undefined : '/run/learn'
    const options = optionsFor({ host: fakeHost({ hostKeyPolicy, knownHostsFiles }), learnFile })
    expect(options.get('StrictHostKeyChecking')).toEqual([checking])
    expect(options.get('UserKnownHostsFile')).toEqual([files])
    expect(options.get('GlobalKnownHostsFile')).toEqual(['/dev/null'])
  })

  test('without named files the usual ones stay in force, also where a new key may be learnt', () => {
    const usual = optionsFor()
    expect([usual.get('UserKnownHostsFile'), usual.get('GlobalKnownHostsFile')]).toEqual([undefined, undefined])
    const learning = optionsFor({ host: fakeHost({ hostKeyPolicy: 'accept-new' }), learnFile: '/run/learn' })
    expect(learning.get('UserKnownHostsFile')).toEqual(['"/run/learn" ~/.ssh/known_hosts ~/.ssh/known_hosts2'])
    expect(learning.get('GlobalKnownHostsFile')).toBeUndefined()
  })

  test('the way is the one that the inventory says, also where that is none', () => {
    const host = fakeHost({ address: '10.0.0.9' })
    expect(optionsFor({ host }).get('ProxyJump')).toEqual(['none'])
    const own = { ...host, sshOptions: { destination: '10.0.0.9', proxyCommand: 'nc %h %p' } }
    expect(optionsFor({ host: own }).get('ProxyJump')).toBeUndefined()
    expect(optionsFor({ host, jumpPath: '/run/user/0/drover-x/j' }).get('ProxyJump')).toBeUndefined()
  })

  test('a jump host is gone through by its socket, with nothing of the inventory in the shell that ssh starts', () => {
    const host = fakeHost({ address: 'inner', name: 'inner', jump: [fakeHost({ address: 'gate', user: 'hop' })] })
    const [command = ''] = optionsFor({ host, jumpPath: '/run/user/0/drover-x/j' }).get('ProxyCommand') ?? []
    expect(command).toMatch(/^ssh -F none .* -S \/run\/user\/0\/drover-x\/j -W '\[%h\]:%p' -- drover$/)
    expect(command).not.toMatch(/inner|gate|hop/)
  })

  test('without anything to say nothing is asked; with a passphrase alone no empty password is tried', () => {
    expect(optionsFor().has('PasswordAuthentication')).toBe(false)
    const asking = optionsFor({ mayAsk: true })
    expect([asking.get('BatchMode'), asking.get('PasswordAuthentication')]).toEqual([['no'], ['no']])
    const typed = optionsFor({ mayAsk: true, hasPassword: true })
    expect([typed.get('BatchMode'), typed.get('PasswordAuthentication')]).toEqual([['no'], undefined])
  })

  test('five of many keys', () => {
    const identityFiles = Array.from({ length: 7 }, (_, index) => `/k/${index}`)
    expect(optionsFor({ host: fakeHost({ identityFiles }) }).get('IdentityFile')).toHaveLength(5)
  })
})

describe('what an inventory may say', () => {
  test.each(['-oProxyCommand=x', '', 'a b', 'a;b', '$(x)', '`x`', 'a|b', "a'b", 'a"b', 'a\nb', '{a,b}', 'a\u0000b'])(
    'no address: %j',
    (address) => expect(isSafeAddress(address)).toBe(false),
  )
  test.each(['web-1.example', '192.0.2.1', '2001:db8::1', 'fe80::1%eth0', 'höst.example', 'web_1'])(
    'an address: %s',
    (address) => expect(isSafeAddress(address)).toBe(true),
  )
  test.each(['-l', 'a b', 'a\\', 'a;b', "a'b", '$x', ''])('no user: %j', (user) => expect(isSafeUser(user)).toBe(false))
  test.each(['root', 'CORP\\ops', 'ops@example.com', 'a-b'])('a user: %s', (user) =>
    expect(isSafeUser(user)).toBe(true),
  )
  test.each(['', '/a"b', '/a\\b', '/a\nb', '/a${HOME}'])('no path: %j', (path) => expect(isSafePath(path)).toBe(false))

  test('all that cannot be said is refused before any host is touched, each with its host', () => {
    const hosts = [
      fakeHost({ name: 'a', address: '-v' }),
      fakeHost({ name: 'b', user: 'x;y', identityFiles: ['/k/"'] }),
      fakeHost({ name: 'fine' }),
    ]
    const refused = (() => {
      try {
        refuseUnsafeWords(hosts)
      } catch (error) {
        return error as DroverError
      }
    })()
    expect(refused).toMatchObject({ code: 'inventory-invalid' })
    expect(refused?.message.split('\n')).toEqual([
      'a: the address "-v" cannot be given to ssh.',
      'b: the user "x;y" cannot be given to ssh.',
      'b: the file "/k/\\"" cannot be given to ssh.',
    ])
  })

  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  test('whatever it is, it is refused or is one word of its own, and never an option', () => {
    fc.assert(
      fc.property(word, word, word, word, (address, user, alias, file) => {
        const host = fakeHost({
          address,
          user,
          hostKeyAlias: alias,
          identityFiles: [`/${file}`],
          knownHostsFiles: [`/${file}`],
        })
        if (unsafeWords(host).length > 0) return
        const argv = masterArguments(given({ host }))
        const plain = masterArguments(
          given({
            host: fakeHost({
              address: 'A',
              user: 'U',
              hostKeyAlias: 'L',
              identityFiles: ['/F'],
              knownHostsFiles: ['/F'],
            }),
          }),
        )
        // As many words, in the same places, and those that are no value of ours are the same.
        expect(argv.length).toBe(plain.length)
        for (const [index, before] of plain.entries()) {
          const after = argv[index] ?? ''
          if (before === 'A') expect(after).toBe(address)
          else if (before === 'U') expect(after).toBe(user)
          else if (before.startsWith('HostKeyAlias=')) expect(after).toBe(`HostKeyAlias=${alias}`)
          else if (before.includes('"/F"'))
            expect(after).toBe(before.replace('/F', () => `/${file.replaceAll('%', '%%')}`))
          else expect(after).toBe(before)
        }
        expect(after(argv, '--')).toEqual([address])
        expect(address.startsWith('-')).toBe(false)
      }),
      { numRuns: 500 },
    )
  })
})

const after = (argv: readonly string[], word: string): readonly string[] => argv.slice(argv.lastIndexOf(word) + 1)
