import { expect, test } from 'vitest'
import { baseConfigText, configFaults, foreignKeys } from '../../src/provision/config.ts'
import type { Provision } from '../../src/provision/inputs.ts'
import { Secret } from '../../src/secret.ts'

const guid = '44654aed-2753-4b88-9142-af7132933b6b'
const cluster_resource_id = `/subscriptions/${guid}/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c`
const token = new Secret('abcdef.0123456789abcdef')
const node = { kubelet: { clusterFQDN: 'api.test', caCertData: 'TEFC' } }
const base: Provision = { cluster_resource_id, base_config: { node } }
const sp = { sp_tenant_id: guid, sp_client_id: guid }

test.each<[string, Provision]>([
  ['arc', { ...base, auth: 'arc' }],
  ['a managed identity', { ...base, auth: 'msi' }],
  ['one by its id', { ...base, auth: 'msi', msi_client_id: guid }],
  ['a principal by its secret', { ...base, ...sp, auth: 'service-principal', sp_client_secret: token }],
  ['a principal by its certificate', { ...base, ...sp, auth: 'service-principal', sp_client_certificate: 'c' }],
  ['a token', { ...base, base_config: { node, azure: { bootstrapToken: { token } } } }],
  [
    'another identity in the base config, which the script drops',
    { ...base, auth: 'arc', base_config: { azure: { managedIdentity: {} } } },
  ],
  [
    'nothing wrong that overrides put right',
    { ...base, auth: 'arc', base_config: { node: { maxPods: 'x' } }, config_overrides: { node: { maxPods: 9 } } },
  ],
  ['nothing at all, where all is fetched', { auth: 'arc', fetch_bootstrap_data: true }],
])('valid: %s', (_, given) => expect(configFaults(given)).toEqual([]))

test.each<[string, Provision, string]>([
  ['no cluster', { auth: 'arc', base_config: {} }, 'azure.targetCluster.resourceId'],
  ['no way to authenticate', base, 'azure names no way'],
  [
    'a token that is none',
    { ...base, base_config: { node, azure: { bootstrapToken: { token: new Secret('hush') } } } },
    'azure.bootstrapToken.token',
  ],
  ['what is laid over it', { ...base, auth: 'arc', config_overrides: { node: { maxPods: 'hush' } } }, 'node.maxPods'],
])('invalid: %s', (_, given, word) => {
  const faults = configFaults(given)
  expect(faults.map(({ message }) => message).join('\n')).toContain(word)
  expect(JSON.stringify(faults)).not.toContain('hush')
})

test('the base config is as it was given, with its secrets', () => {
  const text = baseConfigText({ base_config: { azure: { bootstrapToken: { token } } } })
  expect(JSON.parse(text.reveal())).toEqual({ azure: { bootstrapToken: { token: token.reveal() } } })
  expect(baseConfigText({}).reveal()).toBe('{}\n')
})

test('keys that no release reads are found below the base and in what is laid over it', () => {
  expect(foreignKeys({ base_config: { nod: 1 }, config_overrides: { azure: { x: 1 } } })).toEqual(
    ['nod', 'azure.x'].toSorted(),
  )
})
