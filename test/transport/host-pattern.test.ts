import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashedName, knownHostsName, matchesHosts } from '../../src/transport/host-keys/host-pattern.ts'
import { fakeBlob, knownHostsEntry } from './key-blobs.ts'

const table: [hosts: string, name: string, isMatched: boolean][] = [
  ['web1', 'web1', true],
  ['WEB1', 'web1', true],
  ['web1', 'web10', false],
  ['web1,web2', 'web2', true],
  ['web?', 'web1', true],
  ['web?', 'web', false],
  ['*', 'anything', true],
  ['*.example.com', 'a.b.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com,!db.example.com', 'db.example.com', false],
  ['!db.example.com,*.example.com', 'web.example.com', true],
  ['!db.example.com', 'web.example.com', false],
  ['[web1]:2222', '[web1]:2222', true],
  ['[web1]:2222', 'web1', false],
  ['web1', '[web1]:2222', false],
  ['[*.example.com]:2222', '[a.example.com]:2222', true],
  ['[web12]:22', '[web1]:22', false],
  ['10.0.0.*', '10.0.0.7', true],
  ['2001:db8::1', '2001:db8::1', true],
  ['a*b*c', 'aXbYc', true],
  ['a*b*c', 'aXbY', false],
  ['', 'web1', false],
  [hashedName('web1', Buffer.alloc(20, 7)), 'web1', true],
  [hashedName('[web1]:2222', Buffer.alloc(20, 7)), '[web1]:2222', true],
  [hashedName('web1', Buffer.alloc(20, 7)), 'web2', false],
  ['|1|bm90|aGFzaA==', 'web1', false],
  ['|2|bm90|aGFzaA==', 'web1', false],
]

test.each(table)('%s against %s: %s', (hosts, name, isMatched) => {
  expect(matchesHosts(hosts, name)).toBe(isMatched)
})

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-hosts-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

// The oracle matches in lower case only where a host name was given, so its table leaves that row to the one above.
test.each(table.filter(([hosts]) => hosts !== '' && hosts !== 'WEB1' && !hosts.startsWith('|2')))(
  'ssh-keygen -F judges %s against %s likewise',
  (hosts, name, isMatched) => {
    const file = join(directory, 'known_hosts')
    writeFileSync(file, knownHostsEntry(hosts, fakeBlob('ssh-ed25519', 1)))
    const find = () => execFileSync('ssh-keygen', ['-F', name, '-f', file], { stdio: 'ignore' })
    if (isMatched) expect(find).not.toThrow()
    else expect(find).toThrow()
  },
)

test.each([
  ['Web1', 22, 'web1'],
  ['web1', 2222, '[web1]:2222'],
  ['2001:db8::1', 22, '2001:db8::1'],
  ['2001:db8::1', 23, '[2001:db8::1]:23'],
])('%s port %i is called %s', (address, port, name) => {
  expect(knownHostsName(address, port)).toBe(name)
})

test('many stars are judged in no time', () => {
  expect(matchesHosts('*a'.repeat(2_000), 'a'.repeat(1_999))).toBe(false)
})

test('a glob matches as the regular expression it stands for', () => {
  const pattern = fc.array(fc.constantFrom('*', '?', 'a', 'b', '.')).map((parts) => parts.join(''))
  const name = fc.array(fc.constantFrom('a', 'b', '.')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(
      pattern.filter((text) => text !== ''),
      name,
      (glob, text) => {
        const source = glob.replaceAll('.', '\\.').replaceAll('?', '.').replaceAll(/\*+/g, '.*')
        expect(matchesHosts(glob, text)).toBe(new RegExp(`^${source}$`).test(text))
      },
    ),
  )
})
