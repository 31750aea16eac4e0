import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { InputError } from '../../src/errors.ts'
import { createAuthAttempt, listCredentials } from '../../src/transport/auth-handler.ts'
import { readKeyEnvelope } from '../../src/transport/key-file.ts'
import type { LoadedKey } from '../../src/transport/keys.ts'
import { loadKeys } from '../../src/transport/keys.ts'

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
  expect(loaded?.via).toBe('file')
  const algorithm = name.startsWith('rsa') ? 'sha512' : undefined
  const signature = loaded?.key.sign(data, algorithm) as Buffer
  expect(loaded?.key.verify(data, signature, algorithm)).toBe(true)
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

test('the public half of an encrypted file is read without opening it, and the agent stands in', async () => {
  copyFileSync(path('ed25519'), path('copy'))
  execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'sesame', '-f', path('copy')])
  const [open] = await loadKeys([path('ed25519')], none)
  const agentKeys = [(open as LoadedKey).key]
  expect(await loadKeys([path('copy')], none, { agentKeys })).toMatchObject([{ via: 'agent', file: path('copy') }])
})

test.each(['', 'x', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----'])(
  'an envelope of nothing is no fault: %j',
  (text) => {
    expect(readKeyEnvelope(text)).toEqual({ isEncrypted: false, publicBlob: null })
  },
)

test('configured keys come first, then the rest of the agent, five in all and none twice', async () => {
  const keys = await loadKeys(['ed25519', 'ecdsa'].map(path), none)
  const others = await loadKeys(['rsa', 'rsa_pem'].map(path), none)
  const agentKeys = [...others, ...keys, ...others].map(({ key }) => key)
  const credentials = listCredentials({ user: 'u', keys, agentSocket: '/sock', agentKeys })
  expect(credentials.map(({ method }) => method.type)).toEqual(['publickey', 'publickey', 'agent', 'agent', 'agent'])
  expect(listCredentials({ user: 'u', keys, agentSocket: undefined, agentKeys })).toHaveLength(2)
})

test('each credential is offered once, and none to a server that takes no keys', async () => {
  const keys = await loadKeys(['ed25519', 'ecdsa'].map(path), none)
  const sources = { user: 'u', keys, agentSocket: undefined, agentKeys: [] }
  const offer = (attempt: ReturnType<typeof createAuthAttempt>, left: string[] | null) =>
    (attempt.handler as (...args: unknown[]) => unknown)(left, null, none)
  const attempt = createAuthAttempt(listCredentials(sources))
  expect([offer(attempt, null), offer(attempt, ['publickey']), offer(attempt, ['publickey'])]).toMatchObject([
    { type: 'publickey' },
    { type: 'publickey' },
    false,
  ])
  expect(attempt.offered).toHaveLength(2)
  expect(offer(createAuthAttempt(listCredentials(sources)), ['password'])).toBe(false)
})
