import type { Secret } from '../secret.ts'
import type { Provision } from './inputs.ts'
import type { AgentSource } from './source.ts'
import { secretFile } from './unit.ts'

export interface Settings {
  readonly provision: Provision
  readonly source: AgentSource
  /** Where on the host the certificate of a service principal lies, if it has one. */
  readonly certificate: string | null
}

type Value = string | Secret | undefined

/** What the bootstrap script is told (domain.md 9.3), and nothing that was not said. */
export const settings = ({
  provision,
  source,
  certificate,
}: Settings): readonly (readonly [string, string | Secret])[] => {
  const all: readonly (readonly [string, Value])[] = [
    ['AUTH', provision.auth],
    ['MSI_CLIENT_ID', provision.msi_client_id],
    ['SP_TENANT_ID', provision.sp_tenant_id],
    ['SP_CLIENT_ID', provision.sp_client_id],
    ['SP_CLIENT_SECRET_FILE', provision.sp_client_secret && secretFile],
    ['SP_CLIENT_CERTIFICATE_FILE', certificate ?? undefined],
    ['AGENT_URL', source.url],
    ['AGENT_VERSION', source.version],
    ['AGENT_SHA256', source.sha256],
    ['FETCH_BOOTSTRAP_DATA', provision.fetch_bootstrap_data === true ? 'true' : undefined],
    ['BOOTSTRAP_DATA_API_VERSION', provision.bootstrap_data_api_version],
    ['AUTHORITY_HOST', provision.authority_host],
    ['CLUSTER_RESOURCE_ID', provision.cluster_resource_id],
    ['AGENT_POOL_NAME', provision.agent_pool_name],
    ['RESOURCE_MANAGER_ENDPOINT', provision.resource_manager_endpoint],
    ['BOOTSTRAP_OCI_IMAGE', provision.bootstrap_oci_image],
    ['BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE', provision.offline_artifacts_source],
    ['CONFIG_OVERRIDES', provision.config_overrides && JSON.stringify(provision.config_overrides)],
  ]
  return all.flatMap(([name, value]) => (value === undefined ? [] : [[`AKS_FLEX_NODE_${name}`, value] as const]))
}
