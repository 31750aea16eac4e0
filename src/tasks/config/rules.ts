import { dig, isSaid } from './dig.ts'

/** What is wrong in a config.json. Never holds a value of it: those are full of secrets. */
export interface ConfigProblem {
  /** `azure.targetCluster.resourceId`; empty: the whole. */
  readonly path: string
  readonly message: string
}

type Rule = (config: unknown) => readonly ConfigProblem[]

/** What no field can say by itself (domain.md 9.6). */
export const crossRules: Rule = (config) => rules.flatMap((rule) => rule(config))

const missing = (path: string, message: string): ConfigProblem[] => [{ path, message }]

const target: Rule = (config) =>
  isSaid(config, 'azure.targetCluster.resourceId')
    ? []
    : missing('azure.targetCluster.resourceId', 'is missing: the ARM id of the cluster')

const identities = (config: unknown): string[] => [
  ...(dig(config, 'azure.arc.enabled') === true ? ['azure.arc'] : []),
  ...(isSaid(config, 'azure.managedIdentity') ? ['azure.managedIdentity'] : []),
  ...(isSaid(config, 'azure.servicePrincipal') ? ['azure.servicePrincipal'] : []),
]

const agentKubeconfig = 'agent.kubeconfigData'
const kubeletKubeconfig = 'node.kubelet.kubeconfigData'
const hasKubeconfigs = (config: unknown): boolean =>
  isSaid(config, agentKubeconfig) && isSaid(config, kubeletKubeconfig)

const authentication: Rule = (config) => {
  const found = identities(config)
  if (found.length > 1)
    return missing('azure', `names several Azure identities, ${found.join(' and ')}: one is allowed`)
  if (found.length === 1 || isSaid(config, 'azure.bootstrapToken') || hasKubeconfigs(config)) return []
  return missing(
    'azure',
    `names no way to authenticate: bootstrapToken, arc, managedIdentity or servicePrincipal, or the pair ${agentKubeconfig} and ${kubeletKubeconfig}`,
  )
}

const kubeconfigs: Rule = (config) => {
  if (isSaid(config, agentKubeconfig) === isSaid(config, kubeletKubeconfig)) return []
  const [given, lacking] = isSaid(config, agentKubeconfig)
    ? [agentKubeconfig, kubeletKubeconfig]
    : [kubeletKubeconfig, agentKubeconfig]
  return missing(lacking, `is missing: it belongs to ${given}`)
}

const token: Rule = (config) => {
  if (!isSaid(config, 'azure.bootstrapToken')) return []
  const needs = 'is missing: a bootstrap token needs it'
  return [
    ...(isSaid(config, 'azure.bootstrapToken.token') ? [] : missing('azure.bootstrapToken.token', 'is missing')),
    ...(hasKubeconfigs(config) || isSaid(config, 'node.kubelet.clusterFQDN') || isSaid(config, 'node.kubelet.serverURL')
      ? []
      : missing('node.kubelet.clusterFQDN', needs)),
    ...(hasKubeconfigs(config) || isSaid(config, 'node.kubelet.caCertData')
      ? []
      : missing('node.kubelet.caCertData', needs)),
  ]
}

const servicePrincipal: Rule = (config) => {
  const path = 'azure.servicePrincipal'
  if (!isSaid(config, path)) return []
  const [inline, file] = [isSaid(config, `${path}.clientSecret`), isSaid(config, `${path}.clientSecretFile`)]
  return [
    ...['tenantId', 'clientId'].flatMap((name) =>
      isSaid(config, `${path}.${name}`) ? [] : missing(`${path}.${name}`, 'is missing'),
    ),
    ...(inline && file ? missing(path, 'has both clientSecret and clientSecretFile: one is allowed') : []),
    ...(inline || file
      ? []
      : missing(`${path}.clientSecretFile`, 'is missing: the file with the secret or certificate')),
  ]
}

const machineClient: Rule = (config) => {
  const path = 'agent.machineClient.endpointUrl'
  if (dig(config, 'agent.machineClient.mode') !== 'in-cluster') return []
  const url = dig(config, path)
  const isProxy =
    typeof url === 'string' && /^\/api\/v1\/namespaces\/[^/\s]+\/services\/[^/\s]+\/proxy(?:\/\S*)?$/.test(url)
  return isProxy ? [] : missing(path, 'must be /api/v1/namespaces/NAME/services/NAME/proxy where mode is in-cluster')
}

const routes: Rule = (config) => {
  const path = 'hostRouting.staticRoutes'
  const given = dig(config, `${path}.routes`)
  if (!Array.isArray(given)) return []
  return [
    ...(given.length > 0 && dig(config, `${path}.enabled`) !== true
      ? missing(`${path}.enabled`, 'must be true where there are routes: the agent does not start otherwise')
      : []),
    ...given.flatMap((route: unknown, index) =>
      isSaid(route, 'destination') ? [] : missing(`${path}.routes.${index}.destination`, 'is missing'),
    ),
  ]
}

const overlap: Rule = (config) => {
  const path = 'hostRouting.routeOverlap.mode'
  const mode = dig(config, path)
  return typeof mode !== 'string' || ['WARN', 'STRICT'].includes(mode.toUpperCase())
    ? []
    : missing(path, 'must be WARN or STRICT')
}

const mounts: Rule = (config) => {
  const given = dig(config, 'bootstrap.additionalHostMounts')
  if (!Array.isArray(given)) return []
  return given.flatMap((mount: unknown, index) =>
    isSaid(mount, 'source') ? [] : missing(`bootstrap.additionalHostMounts.${index}.source`, 'is missing'),
  )
}

const credentialProvider: Rule = (config) => {
  const path = 'node.kubelet.imageCredentialProvider'
  const [file, directory] = [isSaid(config, `${path}.configPath`), isSaid(config, `${path}.binDir`)]
  return file === directory ? [] : missing(path, 'needs both configPath and binDir')
}

const imageCleaning: Rule = (config) => {
  const path = 'node.kubelet.imageGCLowThreshold'
  const [low, high] = [dig(config, path) ?? 80, dig(config, 'node.kubelet.imageGCHighThreshold') ?? 85]
  return typeof low === 'number' && typeof high === 'number' && low >= high
    ? missing(path, 'must be below imageGCHighThreshold')
    : []
}

const rules: readonly Rule[] = [
  target,
  authentication,
  kubeconfigs,
  token,
  servicePrincipal,
  machineClient,
  routes,
  overlap,
  mounts,
  credentialProvider,
  imageCleaning,
]
