import type { Secret } from '../secret.ts'
import { merged, revealed, serialised } from '../tasks/config/render.ts'
import { configProblems, unknownKeys } from '../tasks/config/schema.ts'
import type { Provision } from './inputs.ts'
import type { RuleFault } from './rules.ts'
import { pemFile, secretFile } from './unit.ts'

/** What the bootstrap script reads first. With nothing in it all comes from Azure. */
export const baseConfigText = ({ base_config }: Provision): Secret => serialised(revealed(base_config ?? {}))

/** config.json as the bootstrap script will make it of this, save for what it fetches. Secrets are in it: never to be shown. */
const resulting = (given: Provision): unknown => {
  const { base_config = {}, config_overrides = {}, bootstrap_oci_image, offline_artifacts_source } = given
  const layers = [
    config_overrides,
    {
      azure: {
        ...(given.cluster_resource_id !== undefined && { targetCluster: { resourceId: given.cluster_resource_id } }),
        ...(given.agent_pool_name !== undefined && { targetAgentPoolName: given.agent_pool_name }),
        ...(given.resource_manager_endpoint !== undefined && {
          resourceManagerEndpoint: given.resource_manager_endpoint,
        }),
      },
      bootstrap: {
        ...(bootstrap_oci_image !== undefined && { ociImage: bootstrap_oci_image }),
        ...(offline_artifacts_source !== undefined && { offlineArtifacts: { source: offline_artifacts_source } }),
      },
    },
  ].map(revealed)
  return withIdentity(layers.reduce(merged, revealed(base_config)), given)
}

const withIdentity = (config: unknown, given: Provision): unknown => {
  if (given.auth === undefined) return config
  const none = { arc: null, managedIdentity: null, servicePrincipal: null }
  return merged(merged(config, { azure: none }), { azure: identities[given.auth](given) })
}

const identities = {
  arc: () => ({ arc: { enabled: true } }),
  msi: ({ msi_client_id }: Provision) => ({
    managedIdentity: msi_client_id === undefined ? {} : { clientId: msi_client_id },
  }),
  'service-principal': ({ sp_tenant_id, sp_client_id, sp_client_secret }: Provision) => ({
    servicePrincipal: {
      tenantId: sp_tenant_id,
      clientId: sp_client_id,
      clientSecretFile: sp_client_secret === undefined ? pemFile : secretFile,
    },
  }),
} as const

/** Where nothing is fetched, all that the agent needs is here, and a fault in it would show at the first boot only. */
export const configFaults = (given: Provision): readonly RuleFault[] => {
  if (given.fetch_bootstrap_data === true) return []
  return configProblems(resulting(given)).map(({ path, message }) => ({
    path: [],
    message: `config.json would not be valid: ${path === '' ? 'it' : path} ${message}.`,
    remedy: 'Correct base_config, or what is laid over it.',
  }))
}

export const foreignKeys = (given: Provision): readonly string[] =>
  unknownKeys(merged(revealed(given.base_config ?? {}), given.config_overrides ?? {}))
