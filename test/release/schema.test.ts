import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { checkShape } from '../../src/inventory/check-shape.ts'
import { releaseParam } from '../../src/release/schema.ts'
import { Secret } from '../../src/secret.ts'

const digest = 'ab'.repeat(32)
const source = { file: './agent.tar.gz', sha256: digest }
const url = 'https://releases.test/agent.tar.gz?sig=hush'

const read = (agent: unknown) => checkShape(z.strictObject({ agent: releaseParam }), { agent })

describe('a release', () => {
  test('has a source for each architecture', () => {
    const arm64 = { url, sha256: `SHA256:${digest.toUpperCase()}`, binarySha256: `sha256:${digest}` }
    expect(read({ version: 'v1.2.3', hostRootSince: '0.4.0', amd64: source, arm64 })).toEqual({
      faults: [],
      value: {
        agent: {
          version: 'v1.2.3',
          hostRootSince: '0.4.0',
          sources: { amd64: source, arm64: { url, sha256: digest, binarySha256: digest } },
        },
      },
    })
  })
  test('may have its URL as a secret', () => {
    const secret = new Secret(url)
    const { value } = read({ version: 'dev', arm64: { url: secret, sha256: digest } })
    expect(value?.agent).toEqual({ version: 'dev', sources: { arm64: { url: secret, sha256: digest } } })
  })

  const version = 'v1.2.3'
  const from = (url: unknown) => ({ version, amd64: { url, sha256: digest } })
  const noUrl = ['amd64.url', 'This is no URL that releases can be had from.'] as const
  test.each([
    ['no mapping', url, '', 'A release belongs here.'],
    ['nothing', null, '', 'A release belongs here.'],
    ['no version', { amd64: source }, 'version', 'This is no version.'],
    ['a number as version', { version: 1.2, amd64: source }, 'version', 'This is no version.'],
    ['an empty version', { version: '', amd64: source }, 'version', 'This is no version.'],
    ['a version of two words', { version: 'v1 beta', amd64: source }, 'version', 'This is no version.'],
    ['a version that drives terminals', { version: 'v1\u001b[2J', amd64: source }, 'version', 'This is no version.'],
    ['a list of since', { version, hostRootSince: [], amd64: source }, 'hostRootSince', 'This is no version.'],
    ['no architecture', { version }, '', 'The release has no binary.'],
    ['a source that is no mapping', { version, amd64: url }, 'amd64', 'A mapping belongs here.'],
    ['neither file nor url', { version, amd64: { sha256: digest } }, 'amd64', 'The release comes from one place.'],
    ['both file and url', { version, amd64: { ...source, url } }, 'amd64', 'The release comes from one place.'],
    ['an empty file', { version, amd64: { ...source, file: '' } }, 'amd64.file', 'This is no path.'],
    ['a file that is a list', { version, amd64: { ...source, file: [url] } }, 'amd64.file', 'This is no path.'],
    ['no digest', { version, amd64: { file: 'a' } }, 'amd64.sha256', 'This is no SHA-256 digest.'],
    ['a short digest', { version, amd64: { ...source, sha256: 'abc' } }, 'amd64.sha256', 'This is no SHA-256 digest.'],
    [
      'a digest as long as another',
      { version, amd64: { ...source, sha256: 'g'.repeat(64) } },
      'amd64.sha256',
      'This is no SHA-256 digest.',
    ],
    [
      'a wrong digest of the binary',
      { version, amd64: { ...source, binarySha256: 7 } },
      'amd64.binarySha256',
      'This is no SHA-256 digest.',
    ],
    ['an http URL', from(url.replace('https', 'http')), ...noUrl],
    ['a URL with a user', from(url.replace('//', '//me:hush@')), ...noUrl],
    ['a URL with a fragment', from(`${url}#hush`), ...noUrl],
    ['a URL with an empty fragment', from(`${url}#`), ...noUrl],
    ['a file URL', from('file:///agent'), ...noUrl],
    ['no URL', from('agent?sig=hush'), ...noUrl],
    ['a number as URL', from(7), ...noUrl],
    ['an http URL as a secret', from(new Secret('http://releases.test/?sig=hush')), ...noUrl],
  ])('is refused with %s, and no word of what stands there', (_, agent, path, message) => {
    const { faults } = read(agent)
    expect(faults).toMatchObject([{ path: ['agent', ...path.split('.').filter(Boolean)], message }])
    expect(faults.every((fault) => 'remedy' in fault && fault.remedy !== '')).toBe(true)
    expect(JSON.stringify(faults)).not.toContain('hush')
  })
  test('is refused with keys nobody knows, which are named beside the known ones', () => {
    expect(read({ version, amd64: { ...source, sha512: 'a' }, arch: 'x' }).faults).toEqual([
      { path: ['agent', 'amd64'], key: 'sha512', known: ['file', 'url', 'sha256', 'binarySha256'] },
      { path: ['agent'], key: 'arch', known: ['version', 'hostRootSince', 'amd64', 'arm64'] },
    ])
  })
  test('is accepted as docs/releases.md writes it', () => {
    const page = readFileSync(new URL('../../docs/releases.md', import.meta.url), 'utf8')
    const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) =>
      parse(text, { customTags: [{ tag: '!secret', resolve: () => new Secret(url) }] }),
    )
    expect(blocks.map(({ vars }) => read(vars.agent).faults)).toEqual([[], []])
  })
  test('describes each of its keys', () => {
    const { properties = {} } = z.toJSONSchema(releaseParam, { io: 'input', unrepresentable: 'any' })
    const { properties: inner = {} } = properties.amd64 as typeof properties & { properties: object }
    expect(
      Object.entries({ ...properties, ...inner }).filter(([, key]) => !Object.hasOwn(key as object, 'description')),
    ).toEqual([])
  })
})
