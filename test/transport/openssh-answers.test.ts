import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import { type AnswerOptions, createAnswerer } from '../../src/transport/openssh/answers.ts'
import { sshEnvironment } from '../../src/transport/openssh/environment.ts'
import { folderBases, nameFor } from '../../src/transport/openssh/private-folder.ts'
import { fakeHost } from './fake-host.ts'

const answerer = (over: Partial<AnswerOptions> = {}) =>
  createAnswerer({
    host: fakeHost({ identityFiles: ['/k/locked'] }),
    password: new Secret('pw'),
    passphrase: async (file) => `phrase of ${file}`,
    ask: undefined,
    login: () => 'root@192.0.2.1',
    ...over,
  })

describe('a question of ssh', () => {
  test.each([
    ["root@192.0.2.1's password: ", 'pw'],
    ['(root@192.0.2.1) Password: ', 'pw'],
    ['(root@192.0.2.1) Passwort: ', 'pw'],
    ['(root@192.0.2.1) LDAP Password for root: ', 'pw'],
    ["Enter passphrase for key '/k/locked': ", 'phrase of /k/locked'],
    ["Enter passphrase for key '/k/other': ", undefined],
    // A hop of the user's own configuration, or a host that pretends to be another.
    ["root@gate's password: ", undefined],
    ['(root@gate) Password: ', undefined],
    ["(root@gate) root@192.0.2.1's password: ", undefined],
    ['Password: ', undefined],
    // What is no password must not get one.
    ['(root@192.0.2.1) Verification code: ', undefined],
    ['(root@192.0.2.1) One-time password (OATH) for `root`: ', undefined],
    ['Are you sure you want to continue connecting (yes/no/[fingerprint])? ', undefined],
    ['Confirm user presence for key ED25519-SK SHA256:x', undefined],
    ['Enter PIN for ED25519-SK key /k/sk: ', undefined],
  ])('%s', async (prompt, answer) => expect(await answerer()(prompt)).toBe(answer))

  test('is answered once', async () => {
    const answer = answerer()
    expect([await answer("root@192.0.2.1's password: "), await answer("root@192.0.2.1's password: ")]).toEqual([
      'pw',
      undefined,
    ])
    const phrase = "Enter passphrase for key '/k/locked': "
    expect([await answer(phrase), await answer(phrase)]).toEqual(['phrase of /k/locked', undefined])
  })

  test('before ssh has said whom it talks to, nothing is given away', async () => {
    expect(await answerer({ login: () => undefined })("undefined's password: ")).toBeUndefined()
  })

  test('a code is asked of whoever sits there', async () => {
    const ask = async ({ text }: { text: string }) => `code for ${text}`
    expect(await answerer({ ask })('(root@192.0.2.1) Verification code: ')).toBe(
      'code for (root@192.0.2.1) Verification code: ',
    )
    expect(await answerer({ ask: async () => null })('(root@192.0.2.1) Verification code: ')).toBeUndefined()
    expect(await answerer({ ask })('(root@gate) Verification code: ')).toBeUndefined()
  })
})

describe('the environment of ssh', () => {
  const base = {
    PATH: '/usr/bin',
    KRB5CCNAME: 'KCM:',
    LC_ALL: 'de_DE.UTF-8',
    LANGUAGE: 'de',
    SSH_AUTH_SOCK: '/other',
    SSH_ASKPASS: '/usr/bin/other',
    DROVER_SSH_PASSWORD: 'secret',
    DROVER_BECOME_PASSWORD: 'secret',
    FLEET_PASSWORD: 'secret',
  }
  const askpass = { program: '/r/askpass', socket: '/r/ask', ticket: 't' }
  const hosts = [fakeHost({ password: { env: 'FLEET_PASSWORD' } })]
  const environment = sshEnvironment({ base, hosts, agentSocket: '/agent', askpass })

  test('is the user’s, in English, and asks us', () => {
    expect(environment).toMatchObject({
      PATH: '/usr/bin',
      KRB5CCNAME: 'KCM:',
      LC_ALL: 'C',
      SSH_AUTH_SOCK: '/agent',
      SSH_ASKPASS: '/r/askpass',
      SSH_ASKPASS_REQUIRE: 'force',
    })
    expect(environment).not.toHaveProperty('LANGUAGE')
  })

  test('holds no secret', () => expect(JSON.stringify(environment)).not.toContain('secret'))

  test('without an agent there is none', () => {
    expect(sshEnvironment({ base, hosts: [], agentSocket: undefined, askpass })).not.toHaveProperty('SSH_AUTH_SOCK')
  })
})

describe('the folder of a run', () => {
  test.each([
    [{ XDG_RUNTIME_DIR: '/run/user/1000' }, '/tmp', ['/run/user/1000', '/tmp', '/tmp']],
    [{}, '/var/tmp', ['/var/tmp', '/tmp']],
    [{ XDG_RUNTIME_DIR: '/run/user/a b' }, "/tmp/it's", ['/tmp']],
    [{ XDG_RUNTIME_DIR: `/${'x'.repeat(80)}` }, '/tmp', ['/tmp', '/tmp']],
    [{ XDG_RUNTIME_DIR: 'relative' }, '/tmp/$x', ['/tmp']],
  ])('is looked for where a socket’s path stays short and plain: %j', (env, temporary, bases) => {
    expect(folderBases(env, temporary)).toEqual(bases)
    // The name that ssh gives it first has 17 more characters.
    for (const base of bases) expect(`${base}/drover-XXXXXX/${nameFor('x')}`.length + 17).toBeLessThan(104)
  })

  test('has a name for each identity, and never the address alone', () => {
    expect(nameFor('master', 'a')).not.toBe(nameFor('master', 'b'))
    expect(nameFor('ab', 'c')).not.toBe(nameFor('a', 'bc'))
  })
})
