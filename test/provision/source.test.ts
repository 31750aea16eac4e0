import { expect, test } from 'vitest'
import { agentSource, hasQuery, isBeforeHostRoot } from '../../src/provision/source.ts'
import { Secret } from '../../src/secret.ts'

const sha256 = 'ab'.repeat(32)
const url = 'https://releases.test/a.tar.gz'
const amd64 = { url, sha256 }
const arm64 = { url: new Secret(`${url}?sig=hush`), sha256 }

test.each([
  ['the only one there is', { amd64 }, undefined, url],
  ['the one that is asked for', { amd64, arm64 }, 'amd64', url],
  [
    'placeholders, which the script fills in',
    { amd64: { url: `${url}/{{ARCH}}`, sha256 } },
    undefined,
    `${url}/{{ARCH}}`,
  ],
] as const)('%s', (_, sources, architecture, expected) => {
  expect(agentSource({ version: 'v1', sources }, architecture)).toEqual({
    source: { version: 'v1', url: expected, sha256 },
  })
})

test.each([
  ['none is asked for', { amd64, arm64 }, undefined, 'provision.architecture'],
  ['another is asked for', { amd64 }, 'arm64', 'agent'],
  ['it is a file', { amd64: { file: 'a', sha256 } }, undefined, 'agent.amd64.file'],
  ['a quote in it', { amd64: { url: `${url}"`, sha256 } }, undefined, 'agent.amd64.url'],
  ['a backslash in a secret one', { amd64: { url: new Secret(`${url}\\hush`), sha256 } }, undefined, 'agent.amd64.url'],
] as const)('refused: %s', (_, sources, architecture, place) => {
  const found = agentSource({ version: 'v1', sources }, architecture)
  if (!('fault' in found)) throw new Error('it was taken')
  expect(found.fault.path.join('.')).toBe(place)
  expect(JSON.stringify(found)).not.toContain('hush')
})

test('M9: a query is seen in a secret, too', () => {
  expect(hasQuery({ version: 'v1', ...amd64 })).toBe(false)
  expect(hasQuery({ version: 'v1', ...arm64 })).toBe(true)
})

test.each([
  ['v0.2.0', undefined, true],
  ['v0.1.9', undefined, true],
  ['v0.2.1', undefined, false],
  ['v0.3.9', 'v0.4.0', true],
  ['v0.4.0', 'v0.4.0', false],
  ['v0.1.0', 'v0.1.0', false],
  ['dev', 'v0.4.0', false],
])('%s, where %s is the first that knows the root, is too old: %s', (version, hostRootSince, isOld) => {
  expect(isBeforeHostRoot({ version, sources: {}, ...(hostRootSince !== undefined && { hostRootSince }) })).toBe(isOld)
})
