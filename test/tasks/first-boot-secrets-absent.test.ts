import { expect, test } from 'vitest'
import { firstBootSecretsAbsent } from '../../src/tasks/first-boot-secrets-absent.ts'
import { paramsOf, planOn, result, stateFor } from './general/planning.ts'
import { hosts } from './reset/hosts.ts'

const directory = '/etc/aks-flex-node/first-boot'
const bootstrap = 'aks-flex-node-bootstrap.service'
const noUnit = '/etc/systemd/system/aks-flex-node-agent.service'
const notInstalled = {
  paths: { [noUnit]: 'absent' },
  units: { 'aks-flex-node-agent.service': { LoadState: 'not-found' } },
} as const

test('W8 on a host with an agent the files of its first boot go, and nothing else', () => {
  expect(result(firstBootSecretsAbsent, {}, hosts.MOVED())).toEqual([`remove ${directory} and all in it`])
})

test.each([
  ['a first boot is at work', { units: { [bootstrap]: { ActiveState: 'activating' } } }],
  ['no agent is installed', notInstalled],
] as const)('W8 they are kept while %s, and a finding says so', (_, changes) => {
  const params = paramsOf(firstBootSecretsAbsent, {})
  const planned = planOn(firstBootSecretsAbsent, params, stateFor(firstBootSecretsAbsent, params, hosts.MOVED(changes)))
  expect(planned).toMatchObject({ changes: [], findings: [{ check: 'first-boot-secrets-kept', severity: 'ok' }] })
})

test('W8 where none are nothing is done', () => {
  const host = hosts.MOVED({ paths: { [`${directory}/bootstrap.sh`]: 'absent', [directory]: 'absent' } })
  expect(result(firstBootSecretsAbsent, {}, host)).toEqual([])
})

test.each([
  [{ probes: { 'mounts-below': `mount=${directory}/media\nwhole=yes\n` } }],
  [{ mounts: { '/etc/aks-flex-node': { readOnly: true } } }],
  [{ os: { uid: 1000 } }],
] as const)('W8 they stay where they cannot go: %j', (changes) => {
  expect(result(firstBootSecretsAbsent, {}, hosts.MOVED(changes))).toHaveProperty('blocked')
})

test('W8 of a link only the link goes, and what it leads to is named', () => {
  const params = paramsOf(firstBootSecretsAbsent, {})
  const linked = hosts.MOVED({
    paths: { [`${directory}/bootstrap.sh`]: 'absent', [directory]: { link: '/srv/first' } },
  })
  expect(planOn(firstBootSecretsAbsent, params, stateFor(firstBootSecretsAbsent, params, linked))).toMatchObject({
    changes: [{ kind: 'remove', path: directory }],
    findings: [{ check: 'link-target-left', severity: 'warning', target: directory }],
  })
})
