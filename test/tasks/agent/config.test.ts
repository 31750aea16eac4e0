import fc from 'fast-check'
import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { configFacts, readConfig } from '../../../src/tasks/agent/config.ts'
import { offline } from '../../../src/tasks/agent/offline.ts'
import { aHost } from '../deployed.ts'
import { hostState } from '../host-state.ts'

const viewWith = (config: string | null, uid = 0) =>
  viewOf(
    hostState(
      {
        os: { uid },
        paths: config === null ? {} : { '/etc/aks-flex-node/config.json': { file: config, mode: 0o600 } },
      },
      configFacts(),
    ),
  )
const json = JSON.stringify

test.each([
  [null, { is: 'absent' }],
  [json({}), { is: 'valid', offline: false, localDns: 'unsaid' }],
  [
    json({ bootstrap: { offlineArtifacts: { source: '/srv/bundle' } } }),
    { is: 'valid', offline: true, localDns: 'unsaid' },
  ],
  [json({ bootstrap: { offlineArtifacts: { source: ' ' } } }), { is: 'valid', offline: false, localDns: 'unsaid' }],
  [
    json({ bootstrap: null, networking: { localDNS: { mode: 'Required' } } }),
    { is: 'valid', offline: false, localDns: 'on' },
  ],
  [json({ networking: { localDNS: { mode: 'Disabled' } } }), { is: 'valid', offline: false, localDns: 'off' }],
  ['[]', { is: 'invalid', error: '/etc/aks-flex-node/config.json is not a JSON object' }],
  ['{"token": "abcdef.0123456789abcdef"', { is: 'invalid', error: '/etc/aks-flex-node/config.json is not valid JSON' }],
])('%s', (config, wanted) => expect(readConfig(viewWith(config))).toEqual(wanted))

test('nothing of the text survives the reading', () => {
  const secret = 'abcdef.0123456789abcdef'
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue(), (before, after, value) => {
      const texts = [
        `${before}${secret}${after}`,
        json({ azure: { bootstrapToken: { token: secret } }, bootstrap: value }),
      ]
      for (const text of texts) expect(json(readConfig(viewWith(text)))).not.toContain(secret)
    }),
  )
})

test('the content is asked as a secret', () => {
  expect(configFacts()).toEqual([expect.objectContaining({ secret: true })])
})

test.each([
  ['no config.json: the inventory decides', null, 0, true, { offline: true }],
  ['an unreadable one: the inventory decides', json({}), 1000, true, { offline: true }],
  ['an invalid one: the inventory decides', '{', 0, true, { offline: true }],
  ['both agree', json({}), 0, false, { offline: false }],
  [
    'config.json decides',
    json({}),
    0,
    true,
    { offline: false, disagreement: expect.stringContaining('says online, the inventory says offline') },
  ],
])('W6: %s', (_, config, uid, inventory, wanted) => {
  expect(offline(viewWith(config, uid), aHost({ offline: inventory }))).toEqual(wanted)
})
