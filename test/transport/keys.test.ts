import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InputError } from '../../src/errors.ts'
import type { AgentIdentity } from '../../src/transport/login/agent.ts'
import { readKeyEnvelope } from '../../src/transport/login/key-file.ts'
import { loadKeys, needsOpenSsh } from '../../src/transport/login/keys.ts'
import { wireString } from '../../src/transport/login/wire.ts'

let directory: string
const none = () => undefined
const path = (name: string): string => join(directory, name)
const make = (name: string, options: string[]): string => {
  execFileSync('ssh-keygen', ['-q', '-C', name, '-f', path(name), ...options])
  return path(name)
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-keys-'))
  make('ed25519', ['-t', 'ed25519', '-N', ''])
  make('ecdsa', ['-t', 'ecdsa', '-b', '384', '-N', ''])
  make('rsa', ['-t', 'rsa', '-b', '2048', '-N', ''])
  make('rsa_pem', ['-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM'])
  make('locked', ['-t', 'ed25519', '-N', 'sesame', '-a', '4'])
  make('locked_pem', ['-t', 'rsa', '-b', '2048', '-N', 'sesame', '-m', 'PEM'])
  writeFileSync(path('garbage'), 'not a key\n')
  writeFileSync(path('cut'), readFileSync(path('ed25519'), 'utf8').slice(0, 120))
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(path('pkcs8'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
})
afterAll(() => rmSync(directory, { recursive: true }))

test.each(['ed25519', 'ecdsa', 'rsa', 'rsa_pem'])('a %s key signs what its public half verifies', async (name) => {
  const [loaded] = await loadKeys([path(name)], none)
  const data = Buffer.from('what is signed')
  if (loaded?.via !== 'file') throw new Error('it was not read from the file')
  const algorithm = name.startsWith('rsa') ? 'sha512' : undefined
  const signature = loaded.key.sign(data, algorithm) as Buffer
  expect(loaded.key.verify(data, signature, algorithm)).toBe(true)
})

test.each(['locked', 'locked_pem'])('%s opens with its passphrase, once per cache', async (name) => {
  const cache = new Map()
  let asked = 0
  const passphrase = async () => {
    asked += 1
    return 'sesame'
  }
  await loadKeys([path(name)], passphrase, { cache })
  await loadKeys([path(name)], passphrase, { cache })
  expect(asked).toBe(1)
})

test('every file that is of no use is named, with what to do about it', async () => {
  const files = ['missing', 'garbage', 'cut', 'pkcs8', 'ed25519.pub', 'locked', 'locked_pem', 'ed25519'].map(path)
  const failure = (await loadKeys(files, none).catch((error: unknown) => error)) as InputError
  expect(failure.code).toBe('key-unusable')
  expect(failure.faults.map(({ file }) => file)).toEqual(files.slice(0, -1))
  expect(failure.faults.slice(-2).map(({ remedy }) => remedy)).toEqual(
    ['locked', 'locked_pem'].map((name) => expect.stringContaining(`ssh-add ${path(name)}`)),
  )
})

test('a wrong passphrase is said to be wrong', async () => {
  await expect(loadKeys([path('locked')], () => 'wrong')).rejects.toMatchObject({
    code: 'key-unusable',
    message: expect.stringContaining('does not open with the given passphrase'),
  })
})

const heldBy = (name: string): AgentIdentity => {
  const [type = '', base64 = '', comment = ''] = readFileSync(path(`${name}.pub`), 'utf8')
    .trim()
    .split(' ')
  return { socket: '/agent', type, blob: Buffer.from(base64, 'base64'), comment }
}

test('the public half of an encrypted file is read without opening it, and the agent stands in', async () => {
  copyFileSync(path('ed25519'), path('copy'))
  execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'sesame', '-f', path('copy')])
  const identity = heldBy('ed25519')
  const loaded = await loadKeys([path('copy')], none, { agentKeys: [heldBy('rsa'), identity] })
  expect(loaded).toEqual([{ via: 'agent', file: path('copy'), blob: identity.blob, identity }])
})

test('a public key means the one in the agent, and is a fault where that does not hold it', async () => {
  const identity = heldBy('rsa')
  expect(await loadKeys([path('rsa.pub')], none, { agentKeys: [identity] })).toMatchObject([{ via: 'agent', identity }])
  await expect(loadKeys([path('rsa.pub')], none, { agentKeys: [heldBy('ed25519')] })).rejects.toMatchObject({
    code: 'key-unusable',
    message: expect.stringContaining('ssh-agent does not hold the private one'),
  })
})

describe('a security key', () => {
  const blob = Buffer.concat(['sk-ssh-ed25519@openssh.com', 'x'.repeat(32), 'ssh:'].map(wireString))
  const identity = { socket: '/agent', type: 'sk-ssh-ed25519@openssh.com', blob, comment: '' }
  const envelope = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(wireString),
    Buffer.from([0, 0, 0, 1]),
    wireString(blob),
    wireString('the handle'),
  ])
  beforeAll(() =>
    writeFileSync(
      path('sk'),
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${envelope.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    ),
  )

  test('is used through the agent', async () => {
    expect(await loadKeys([path('sk')], none, { agentKeys: [identity] })).toMatchObject([{ via: 'agent', identity }])
    expect(await needsOpenSsh([path('sk'), path('rsa')], [identity])).toEqual([])
  })

  test('without the agent is a matter for OpenSSH', async () => {
    await expect(loadKeys([path('sk')], none)).rejects.toMatchObject({
      code: 'key-unusable',
      remedy: expect.stringContaining('--transport openssh'),
    })
    expect(await needsOpenSsh([path('rsa'), path('sk'), path('missing')], [heldBy('rsa')])).toEqual([
      `${path('sk')} is that of a security key`,
    ])
  })
})

test.each(['', 'x', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----'])(
  'an envelope of nothing is no fault: %j',
  (text) => {
    expect(readKeyEnvelope(text)).toEqual({ isEncrypted: false, publicBlob: null })
  },
)
