import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DroverError } from '../../src/errors.ts'
import type { Host } from '../../src/inventory/host.ts'
import { createSsh2Transport, type TransportOptions } from '../../src/transport/ssh2/ssh2-transport.ts'
import { fakeHost } from './fake-host.ts'
import { startSecurityKeyAgent } from './software-security-key.ts'
import { createSshLab, type Sshd, type SshLab } from './sshd.ts'

/** Which keys get in, against a real sshd: certificates and security keys, which ssh2 cannot offer by itself, above all. */

const deadlines = { resolveMs: 2_000, connectMs: 2_000, handshakeMs: 5_000, authMs: 5_000, channelMs: 5_000 }

let lab: SshLab
let sshd: Sshd
let undo: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  lab = createSshLab()
  lab.makeKey('ca')
  lab.makeKey('other_ca')
  sshd = await lab.start(`TrustedUserCAKeys ${lab.path('ca.pub')}`)
})
afterAll(() => lab.stop())
afterEach(async () => {
  for (const step of undo.reverse()) await step()
  undo = []
})

const target = (over: Partial<Host>): Host => {
  const port = over.port ?? sshd.port
  const knownHosts = lab.path(`known_hosts.${port}`)
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ssh-ed25519 ${lab.publicKey('host_ed25519')}\n`)
  return fakeHost({ address: '127.0.0.1', port, user: lab.user, knownHostsFiles: [knownHosts], ...over })
}

const logIn = async (over: Partial<Host>, options: Partial<TransportOptions> = {}): Promise<string> => {
  const transport = createSsh2Transport({ deadlines, passphrase: () => undefined, ...options })
  undo.push(() => transport.close())
  const host = target(over)
  await transport.prepare([host])
  const connection = await transport.connect(host)
  undo.push(() => connection.close())
  const { stdout } = await connection.exec({ command: 'echo in', deadlineMs: 5_000, maxBytes: 1_000 })
  return Buffer.from(stdout).toString()
}

const refusal = (over: Partial<Host>, options?: Partial<TransportOptions>): Promise<DroverError> =>
  logIn(over, options).then(
    () => Promise.reject(new Error('it let us in')),
    (error: DroverError) => error,
  )

interface Signing {
  readonly type?: string
  readonly ca?: string
  readonly principal?: string
  readonly validity?: string
}

/** A key that no host knows, with a certificate beside it. */
const certify = (
  name: string,
  { type, ca = 'ca', principal = lab.user, validity = '-1h:+1h' }: Signing = {},
): string => {
  const file = lab.makeKey(name, type === undefined ? {} : { type })
  const id = ['-I', `id of ${name}`, '-n', principal, '-V', validity]
  execFileSync('ssh-keygen', ['-q', '-s', lab.path(ca), ...id, `${file}.pub`], { stdio: 'pipe' })
  return file
}

const agentWith = async (...files: readonly string[]): Promise<string> => {
  const agent = await lab.startAgent()
  undo.push(() => agent.stop())
  for (const file of files) agent.add(file)
  return agent.socket
}

describe('certificates', () => {
  test.each(['ed25519', 'rsa', 'ecdsa'])('one of an %s key beside its file', async (type) => {
    expect(await logIn({ identityFiles: [certify(`beside_${type}`, { type })] })).toBe('in\n')
  })

  test.each(['ed25519', 'rsa', 'ecdsa'])('one of an %s key that ssh-agent holds', async (type) => {
    const agentSocket = await agentWith(certify(`held_${type}`, { type }))
    expect(await logIn({ identityFiles: [] }, { agentSocket })).toBe('in\n')
  })

  test('one that is named and lies elsewhere, its key in a file or in ssh-agent alone', async () => {
    const file = certify('named')
    const moved = lab.path('moved.pub')
    copyFileSync(`${file}-cert.pub`, moved)
    execFileSync('rm', [`${file}-cert.pub`])
    expect(await logIn({ identityFiles: [file], certificateFiles: [moved] })).toBe('in\n')
    const agentSocket = await agentWith(file)
    const only = { identityFiles: [`${file}.pub`], certificateFiles: [moved], identitiesOnly: true }
    expect(await logIn(only, { agentSocket })).toBe('in\n')
  })

  test('beside a certificate that is refused the key itself may be right', async () => {
    const file = certify('fallback', { ca: 'other_ca' })
    lab.authorize('fallback')
    expect(await logIn({ identityFiles: [file] })).toBe('in\n')
  })

  test('one that has expired is not offered, and the error says until when it was valid', async () => {
    const file = certify('expired', { validity: '20200101000000Z:20200102000000Z' })
    const { code, detail } = await refusal({ identityFiles: [file] })
    expect(code).toBe('auth-failed')
    expect(detail).toMatch(/not tried: .*expired-cert\.pub .*"id of expired".*it was valid until 2020-01-02T00:00:00Z/)
    expect(detail).not.toMatch(/^offered: .*cert/m)
  })

  test('one for somebody else is told apart from one by an authority that the host does not trust', async () => {
    const stranger = await refusal({ identityFiles: [certify('stranger', { principal: 'somebody-else' })] })
    expect(stranger.remedy).toContain('is for somebody-else, and the user is')
    const untrusted = await refusal({ identityFiles: [certify('untrusted', { ca: 'other_ca' })] })
    expect(untrusted.remedy).toMatch(/TrustedUserCAKeys.*"id of untrusted".*valid from .* until /)
    for (const { code } of [stranger, untrusted]) expect(code).toBe('auth-failed')
  })

  test('a named one that is not there or damaged is a fault before any host is touched', async () => {
    writeFileSync(lab.path('damaged.pub'), readFileSync(lab.path('user.pub')))
    for (const file of ['absent.pub', 'damaged.pub'])
      expect(await refusal({ identityFiles: [lab.keyFile], certificateFiles: [lab.path(file)] })).toMatchObject({
        code: 'key-unusable',
        message: expect.stringContaining(lab.path(file)),
      })
  })
})

describe('ssh-agent', () => {
  const sevenKeys = async (): Promise<string> => {
    const keys = [1, 2, 3, 4, 5, 6].map((index) => `stranger_${index}`)
    for (const key of keys) execFileSync('rm', ['-f', lab.path(key), lab.path(`${key}.pub`)])
    return agentWith(...keys.map((key) => lab.makeKey(key)), lab.keyFile)
  }

  test('of seven keys the last one is offered first where its public half or its file is named', async () => {
    const agentSocket = await sevenKeys()
    const encrypted = lab.encryptedCopy('user', 'user_locked', 'sesame')
    for (const file of [`${lab.keyFile}.pub`, lab.keyFile, encrypted]) {
      expect(await logIn({ identityFiles: [file] }, { agentSocket })).toBe('in\n')
      expect(await logIn({ identityFiles: [file], identityAgent: agentSocket })).toBe('in\n')
    }
  })

  test('of seven keys without a name five are offered, and the error says which were not and what to do', async () => {
    const agentSocket = await sevenKeys()
    const { code, detail, remedy } = await refusal({ identityFiles: [] }, { agentSocket })
    expect([code, detail?.match(/^offered: ssh-agent/gm)?.length, detail?.match(/^not tried: /gm)?.length]).toEqual([
      'auth-failed',
      5,
      2,
    ])
    expect(remedy).toContain('authorized_keys')
  })

  test('a server with less patience is named as such', async () => {
    const strict = await lab.start('MaxAuthTries 3')
    const failure = await refusal({ identityFiles: [], port: strict.port }, { agentSocket: await sevenKeys() })
    expect(failure).toMatchObject({
      code: 'auth-failed',
      message: expect.stringContaining('after 3 keys (MaxAuthTries)'),
      remedy: expect.stringContaining('KEY.pub'),
    })
  })

  test('identitiesOnly leaves what else it holds alone, and `none` is no agent', async () => {
    const agentSocket = await agentWith(lab.keyFile)
    const identityFiles = [lab.makeKey('unknown_to_all')]
    expect(await logIn({ identityFiles }, { agentSocket })).toBe('in\n')
    const only = await refusal({ identityFiles, identitiesOnly: true }, { agentSocket })
    expect(only.detail).not.toContain('ssh-agent')
    expect((await refusal({ identityFiles, identityAgent: 'none' }, { agentSocket })).code).toBe('auth-failed')
  })

  test('a public key that it does not hold is a fault before any host is touched', async () => {
    const failure = await refusal({ identityFiles: [`${lab.keyFile}.pub`] }, { agentSocket: await agentWith() })
    expect(failure).toMatchObject({ code: 'key-unusable', message: expect.stringContaining('does not hold') })
  })

  test('a security key that it holds', async () => {
    const agent = await startSecurityKeyAgent(lab.path('sk-agent'))
    undo.push(agent.stop)
    const before = agent.signatures()
    expect((await refusal({ identityFiles: [] }, { agentSocket: agent.socket })).detail).toContain('sk-ssh-ed25519')
    expect(agent.signatures()).toBe(before)
    appendFileSync(lab.path('authorized_keys'), `${agent.publicLine}\n`)
    expect(await logIn({ identityFiles: [] }, { agentSocket: agent.socket })).toBe('in\n')
    expect(agent.signatures()).toBe(before + 1)
  })
})

test('two keys where the server wants two', async () => {
  const both = await lab.start('AuthenticationMethods publickey,publickey')
  lab.makeKey('second')
  lab.authorize('second')
  const identityFiles = [lab.keyFile, lab.path('second')]
  expect(await logIn({ identityFiles, port: both.port })).toBe('in\n')
  expect(await refusal({ identityFiles: [lab.keyFile], port: both.port })).toMatchObject({
    code: 'auth-failed',
    message: expect.stringContaining('it also wants publickey'),
  })
})
