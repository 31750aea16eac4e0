import { expect, test } from 'vitest'
import { readMerge } from '../../src/provision/merge.ts'

const ignition = (more: object = {}, version = '3.3.0') => JSON.stringify({ ignition: { version }, ...more })
const user = (of: object) => ({ passwd: { users: [{ name: 'core', ...of }] } })

test.each([
  ['nothing', ignition(), false],
  ['a user without a way in', ignition(user({ groups: ['sudo'] })), false],
  ['a key', ignition(user({ sshAuthorizedKeys: ['ssh-ed25519 AAAA'] })), true],
  ['a password', ignition(user({ passwordHash: '$6$' })), true],
  ['more from elsewhere', '{"ignition": {"version": "3.4.0", "config": {"merge": [{"source": "https://x"}]}}}', true],
])('%s is merged as it is, and may let somebody in: %s', (_, text, mayLetIn) => {
  const read = readMerge(text)
  if (!('text' in read)) throw new Error(read.message)
  expect([read.text.reveal(), read.mayLetIn]).toEqual([text, mayLetIn])
})

const path = '/etc/aks-flex-node/first-boot'
test.each([
  ['a Butane config', 'variant: flatcar\nversion: 1.1.0\n', 'no Ignition'],
  ['a list', '[]', 'no Ignition'],
  ['Ignition of another age', ignition({}, '2.3.0'), 'cannot be merged into 3.4.0'],
  ['a newer one', ignition({}, '3.5.0'), 'cannot be merged into 3.4.0'],
  ['a file of the bootstrap', ignition({ storage: { files: [{ path: `${path}/bootstrap.env` }] } }), path],
  ['its directory', ignition({ storage: { directories: [{ path }] } }), path],
  ['a link in its place', ignition({ storage: { links: [{ path, target: '/x' }] } }), path],
  [
    'its credential',
    ignition({ storage: { files: [{ path: '/etc/aks-flex-node/credentials/sp-client-secret' }] } }),
    'sp-client-secret',
  ],
  [
    'a link above it',
    ignition({ storage: { links: [{ path: '/etc/aks-flex-node', target: '/x' }] } }),
    'aks-flex-node',
  ],
  ['a path that leads there', ignition({ storage: { files: [{ path: `/etc/../${path}//x` }] } }), path],
  [
    'the directory of credentials',
    ignition({ storage: { directories: [{ path: '/etc/aks-flex-node/credentials', mode: 511 }] } }),
    'credentials',
  ],
  ...[
    'system/aks-flex-node-bootstrap.service',
    'system/aks-flex-node-bootstrap.service.d/10-mine.conf',
    'system/aks-flex-node-agent.service',
    'system/aks-flex-node-agent.service.d/10-mine.conf',
    'system-preset/00-mine.preset',
  ].map((name): [string, string, string] => [
    `/etc/systemd/${name}`,
    ignition({ storage: { files: [{ path: `/etc/systemd/${name}` }] } }),
    name,
  ]),
  [
    'the unit of the agent',
    ignition({ systemd: { units: [{ name: 'aks-flex-node-agent.service', mask: true }] } }),
    'agent.service',
  ],
  [
    'its unit',
    ignition({ systemd: { units: [{ name: 'aks-flex-node-bootstrap.service', mask: true }] } }),
    'bootstrap.service',
  ],
  [
    'another one in place of all',
    '{"ignition": {"version": "3.4.0", "config": {"replace": {"source": "https://x"}}}}',
    'replace',
  ],
])('%s is refused', (_, text, word) => {
  expect(readMerge(text)).toMatchObject({ message: expect.stringContaining(word), remedy: expect.any(String) })
})

test('files beside those of the bootstrap are the user’s own business', () => {
  expect(
    readMerge(ignition({ storage: { files: [{ path: `${path}-notes` }, { path: '/etc/motd' }] } })),
  ).toHaveProperty('text')
})
