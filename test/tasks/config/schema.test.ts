import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configProblems, unknownKeys } from '../../../src/tasks/config/schema.ts'
import { cluster, valid, withToken } from './valid.ts'

type Change = readonly [path: string, value: unknown]

/** A copy with other values at dotted paths; undefined takes the key away. */
const changed = (config: unknown, ...changes: readonly Change[]): unknown => {
  const copy = structuredClone(config) as Record<string, unknown>
  for (const [path, value] of changes) {
    const keys = path.split('.')
    const last = keys.pop() as string
    let here = copy
    for (const key of keys) {
      here[key] ??= {}
      here = here[key] as Record<string, unknown>
    }
    if (value === undefined) delete here[last]
    else here[last] = value
  }
  return copy
}

test.each(Object.entries(valid))('a configuration that is right has no problem and no unknown key: %s', (_, config) => {
  expect(configProblems(config)).toEqual([])
  expect(unknownKeys(config)).toEqual([])
})

const file = 'azure.servicePrincipal'
const principal = { tenantId: 't', clientId: 'c', clientSecretFile: '/run/sp' }

/** One thing that is wrong, and the place that is blamed. */
const wrong: [what: string, place: string, ...changes: Change[]][] = [
  ['no cluster', 'azure.targetCluster.resourceId', ['azure.targetCluster', undefined]],
  [
    'an id without a guid',
    'azure.targetCluster.resourceId',
    ['azure.targetCluster.resourceId', cluster.replace('44654aed', 'mine')],
  ],
  ['an id of a pool', 'azure.targetCluster.resourceId', ['azure.targetCluster.resourceId', `${cluster}/agentPools/a`]],
  ['a token in upper case', 'azure.bootstrapToken.token', ['azure.bootstrapToken.token', 'ABCDEF.0123456789abcdef']],
  ['a token object without a token', 'azure.bootstrapToken.token', ['azure.bootstrapToken', {}]],
  ['a token without an API server', 'node.kubelet.clusterFQDN', ['node.kubelet.clusterFQDN', '']],
  ['a token without a CA', 'node.kubelet.caCertData', ['node.kubelet.caCertData', undefined]],
  ['a CA that is not base64', 'node.kubelet.caCertData', ['node.kubelet.caCertData', '-----BEGIN CERTIFICATE-----']],
  ['nothing to authenticate with', 'azure', ['azure.bootstrapToken', undefined]],
  ['two identities', 'azure', ['azure.managedIdentity', {}], ['azure.arc', { enabled: true }]],
  ['half a pair of kubeconfigs', 'node.kubelet.kubeconfigData', ['agent.kubeconfigData', 'x']],
  ['a secret twice', file, [file, { ...principal, clientSecret: 's' }]],
  ['no secret', `${file}.clientSecretFile`, [file, { tenantId: 't', clientId: 'c' }]],
  ['a secret file by a relative path', `${file}.clientSecretFile`, [file, { ...principal, clientSecretFile: 'sp' }]],
  ['no client', `${file}.clientId`, [file, { ...principal, clientId: undefined }]],
  [
    'a port in an endpoint',
    'azure.resourceManagerEndpoint',
    ['azure.resourceManagerEndpoint', 'https://a.example:8443'],
  ],
  ['an endpoint by http', 'azure.resourceManagerEndpoint', ['azure.resourceManagerEndpoint', 'http://a.example']],
  ['a node name in upper case', 'agent.nodeName', ['agent.nodeName', 'Node-1']],
  ['a node name ending in a dash', 'agent.nodeName', ['agent.nodeName', 'node-']],
  ['a node name too long', 'agent.nodeName', ['agent.nodeName', 'a'.repeat(254)]],
  ['a duration without a unit', 'agent.machineReconcileInterval', ['agent.machineReconcileInterval', '10']],
  ['a duration below nothing', 'agent.machineReconcileInterval', ['agent.machineReconcileInterval', '-10m']],
  ['a mode that is none', 'agent.machineClient.mode', ['agent.machineClient.mode', 'cluster']],
  [
    'in-cluster by a URL',
    'agent.machineClient.endpointUrl',
    ['agent.machineClient', { mode: 'in-cluster', endpointUrl: 'https://x' }],
  ],
  ['a device elsewhere', 'bootstrap.additionalHostDevices.0', ['bootstrap.additionalHostDevices', ['/etc/passwd']]],
  ['a device by ..', 'bootstrap.additionalHostDevices.0', ['bootstrap.additionalHostDevices', ['/dev/../etc']]],
  [
    'a mount with a colon',
    'bootstrap.additionalHostMounts.0.source',
    ['bootstrap.additionalHostMounts', [{ source: '/a:b' }]],
  ],
  [
    'a mount with a blank',
    'bootstrap.additionalHostMounts.0.target',
    ['bootstrap.additionalHostMounts', [{ source: '/a', target: '/b c' }]],
  ],
  [
    'a mount of nothing',
    'bootstrap.additionalHostMounts.0.source',
    ['bootstrap.additionalHostMounts', [{ target: '/a' }]],
  ],
  [
    'a service that is no unit',
    'bootstrap.additionalRequiredServices.0',
    ['bootstrap.additionalRequiredServices', ['a b']],
  ],
  [
    'routes that are switched off',
    'hostRouting.staticRoutes.enabled',
    ['hostRouting.staticRoutes.routes', [{ destination: '10.0.0.0/8' }]],
  ],
  [
    'a route without a destination',
    'hostRouting.staticRoutes.routes.0.destination',
    ['hostRouting.staticRoutes', { enabled: true, routes: [{}] }],
  ],
  [
    'a route in IPv6',
    'hostRouting.staticRoutes.routes.0.destination',
    ['hostRouting.staticRoutes', { enabled: true, routes: [{ destination: 'fd00::/8' }] }],
  ],
  [
    'a network of 33 bits',
    'hostRouting.routeOverlap.expectedCidrs.0',
    ['hostRouting.routeOverlap.expectedCidrs', ['10.0.0.0/33']],
  ],
  ['an overlap mode that is none', 'hostRouting.routeOverlap.mode', ['hostRouting.routeOverlap.mode', 'LOUD']],
  [
    'half a credential provider',
    'node.kubelet.imageCredentialProvider',
    ['node.kubelet.imageCredentialProvider.binDir', '/a'],
  ],
  ['thresholds upside down', 'node.kubelet.imageGCLowThreshold', ['node.kubelet.imageGCLowThreshold', 90]],
  ['pods as a text', 'node.maxPods', ['node.maxPods', '110']],
  ['a section that is a list', 'agent', ['agent', []]],
]

test.each(wrong)('%s is found, at its place and nowhere else', (_what, place, ...changes: Change[]) => {
  expect(configProblems(changed(withToken, ...changes)).map(({ path }) => path)).toEqual([place])
})

test.each([null, [], 'text', 7])('what is no mapping is no configuration: %j', (value) => {
  expect(configProblems(value)).toEqual([{ path: '', message: 'must be a mapping' }])
})

test('a key that drover does not know is told and is no fault: the agent may be newer', () => {
  const config = changed(withToken, ['node.kubelet.podPidsLimit', 100], ['telemetry', {}])
  expect(configProblems(config)).toEqual([])
  expect(unknownKeys(config)).toEqual(['node.kubelet.podPidsLimit', 'telemetry'])
})

const places = [
  'azure.targetCluster.resourceId',
  'azure.bootstrapToken.token',
  'azure.servicePrincipal.clientSecret',
  'azure.servicePrincipal.clientSecretFile',
  'azure.resourceManagerEndpoint',
  'agent.kubeconfigData',
  'agent.nodeName',
  'agent.machineClient.mode',
  'agent.machineReconcileInterval',
  'bootstrap.offlineArtifacts',
  'bootstrap.additionalHostDevices',
  'hostRouting.staticRoutes.routes',
  'hostRouting.routeOverlap.mode',
  'node.maxPods',
  'node.labels',
  'node.kubelet.caCertData',
  'azure',
  'agent',
]

test('no problem ever tells a value', () => {
  const value = fc.string({ minLength: 12, maxLength: 24, unit: fc.constantFrom(...'QXZJKVqxzjkv ') })
  const shape = fc.constantFrom(
    (secret: string): unknown => secret,
    (secret: string) => [secret],
    (secret: string) => ({ token: secret }),
    (secret: string) => [{ destination: secret, source: secret }],
  )
  fc.assert(
    fc.property(fc.constantFrom(...places), value, shape, (place, secret, shaped) => {
      const told = JSON.stringify(configProblems(changed(withToken, [place, shaped(secret)])))
      expect(told).not.toContain(secret)
    }),
  )
})

test('any data at all are judged, and never by an exception', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(configProblems(value))))
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
      expect(Array.isArray(configProblems(changed({}, [place, value])))).toBe(true)
    }),
  )
})
