import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentIdentity } from '../../src/transport/login/agent.ts'
import { certificateFlaw, certificateWords, parseCertificate } from '../../src/transport/login/certificate.ts'
import { loadCertificates } from '../../src/transport/login/certificate-files.ts'
import { type Credential, listCredentials } from '../../src/transport/login/credentials.ts'
import { loadKeys } from '../../src/transport/login/keys.ts'
import { byPassword, LoginMemory, loginOrder } from '../../src/transport/login/login-order.ts'
import { readPublicKey } from '../../src/transport/login/public-key-file.ts'

let directory: string
const path = (name: string): string => join(directory, name)
const keygen = (...args: readonly string[]) => execFileSync('ssh-keygen', ['-q', ...args], { stdio: 'pipe' })
const now = new Date('2026-01-15T12:00:00Z')

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-credentials-'))
  for (const name of ['ca', 'plain', 'signed', 'late', 'held', 'held_signed'])
    keygen('-t', 'ed25519', '-N', '', '-C', name, '-f', path(name))
  keygen('-t', 'rsa', '-b', '2048', '-N', '', '-C', 'rsa', '-f', path('rsa'))
  const sign = (name: string, ...options: readonly string[]) =>
    keygen('-s', path('ca'), '-I', `id of ${name}`, ...options, path(`${name}.pub`))
  sign('signed', '-n', 'root,deploy', '-V', '20260101000000Z:20260201000000Z')
  sign('late', '-n', 'root', '-V', '20250101000000Z:20260101000000Z')
  sign('held_signed', '-V', 'always:forever')
  sign('rsa', '-h', '-n', 'host.example')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const blobOf = (name: string): Buffer =>
  readPublicKey(readFileSync(path(`${name}.pub`), 'utf8'))?.blob ?? Buffer.alloc(0)
const certificateOf = (name: string) => {
  const certificate = parseCertificate(blobOf(`${name}-cert`))
  if (certificate === null) throw new Error(`${name} has no certificate`)
  return certificate
}
const held = (name: string): AgentIdentity => {
  const { type = '', blob = Buffer.alloc(0) } = readPublicKey(readFileSync(path(`${name}.pub`), 'utf8')) ?? {}
  return { socket: '/agent', type, blob, comment: name }
}

describe('a certificate', () => {
  test('says what it is for', () => {
    expect(certificateOf('signed')).toMatchObject({
      type: 'ssh-ed25519-cert-v01@openssh.com',
      publicBlob: blobOf('signed'),
      isForUser: true,
      keyId: 'id of signed',
      principals: ['root', 'deploy'],
    })
    expect(certificateWords(certificateOf('signed'))).toBe(
      '"id of signed" for root, deploy, valid from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z',
    )
    expect(certificateWords(certificateOf('held_signed'))).toBe('"id of held_signed" for any user, valid for ever')
  })

  test.each([
    ['signed', '2026-01-15T12:00:00Z', null],
    ['signed', '2025-12-31T23:59:59Z', 'it is valid only from 2026-01-01T00:00:00Z'],
    ['signed', '2026-02-01T00:00:00Z', 'it was valid until 2026-02-01T00:00:00Z'],
    ['held_signed', '2100-01-01T00:00:00Z', null],
    ['rsa', '2026-01-15T12:00:00Z', 'it is the certificate of a host, not of a user'],
  ])('%s at %s: %s', (name, when, flaw) => {
    expect(certificateFlaw(certificateOf(name), new Date(when))).toBe(flaw)
  })

  test('that is cut anywhere, or is none, is none', () => {
    const { blob } = certificateOf('signed')
    // What comes after the validity is for the server alone.
    const needed = blob.indexOf('deploy') + 6 + 16
    fc.assert(
      fc.property(fc.nat(needed - 1), (length) => {
        expect(parseCertificate(blob.subarray(0, length))).toBeNull()
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(parseCertificate(Buffer.from(bytes))).toBeNull()
      }),
    )
    expect(parseCertificate(blobOf('plain'))).toBeNull()
  })
})

const labelsOf = (credentials: readonly Credential[]): string[] =>
  credentials.map(
    ({ label, certificate }) =>
      `${certificate === undefined ? '' : 'cert '}${label.replace(`${directory}/`, '').replace(/ \(.*/, '')}`,
  )

const list = async (
  names: readonly string[],
  agentKeys: readonly AgentIdentity[] = [],
  over: { identitiesOnly?: boolean; named?: readonly string[] } = {},
) => {
  const identityFiles = names.map(path)
  const keys = await loadKeys(identityFiles, () => undefined, { agentKeys })
  const certificates = await loadCertificates({ named: (over.named ?? []).map(path), identityFiles })
  return listCredentials({ keys, certificates, agentKeys, identitiesOnly: over.identitiesOnly ?? false, now })
}

describe('what is offered', () => {
  test('configured keys in their order, certificates before their keys, then the rest of ssh-agent, nothing twice', async () => {
    const agent = ['held', 'plain', 'held_signed', 'held_signed-cert', 'signed'].map(held)
    const { usable } = await list(['plain', 'signed'], agent)
    expect(labelsOf(usable)).toEqual([
      'plain',
      'cert signed-cert.pub',
      'signed',
      'cert certificate in ssh-agent',
      'ssh-agent',
      'ssh-agent',
    ])
    expect(usable.map(({ isConfigured }) => isConfigured)).toEqual([true, true, true, false, false, false])
  })

  test('only what is configured, where the host says so', async () => {
    const agent = ['held', 'held_signed', 'held_signed-cert'].map(held)
    expect(labelsOf((await list(['plain'], agent, { identitiesOnly: true })).usable)).toEqual(['plain'])
    const named = await list(['held_signed.pub'], agent, { identitiesOnly: true, named: ['held_signed-cert.pub'] })
    expect(labelsOf(named.usable)).toEqual([
      'cert held_signed-cert.pub',
      'cert certificate in ssh-agent',
      'held_signed.pub by ssh-agent',
    ])
  })

  test('a certificate of no use is left out, and the reason kept', async () => {
    const { usable, unusable } = await list(['late', 'rsa'])
    expect(labelsOf(usable)).toEqual(['late', 'rsa'])
    expect(unusable).toEqual([
      expect.stringMatching(/late-cert\.pub \("id of late" .*\): it was valid until 2026-01-01T00:00:00Z/),
      expect.stringMatching(/rsa-cert\.pub .*: it is the certificate of a host/),
    ])
  })
})

describe('the order', () => {
  const credentials = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
    (label, index) => ({ label, isConfigured: index < 2 }) as Credential,
  )
  test.each<[string, { hasPassword?: boolean; last?: string }, string, string]>([
    ['five keys at most', {}, 'abcde', 'fg'],
    ['four beside a password', { hasPassword: true }, 'abcd', 'efg'],
    ['what worked last comes first', { last: 'g' }, 'gabcd', 'ef'],
    ['where the password worked, keys that nobody named are no use', { hasPassword: true, last: byPassword }, 'ab', ''],
    ['what is not there any more changes nothing', { last: 'z' }, 'abcde', 'fg'],
  ])('%s', (_, { hasPassword = false, last }, offered, left) => {
    const order = loginOrder({ credentials, hasPassword, last })
    expect([order.offers, order.left].map((each) => each.map(({ label }) => label).join(''))).toEqual([offered, left])
  })

  test('what worked is remembered for the same user and the same keys alone', () => {
    const memory = new LoginMemory()
    memory.remember('root', credentials, 'g')
    expect(memory.recall('root', credentials)).toBe('g')
    expect(memory.recall('deploy', credentials)).toBeUndefined()
    expect(memory.recall('root', credentials.slice(1))).toBeUndefined()
  })
})
