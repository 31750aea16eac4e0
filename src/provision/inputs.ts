import { z } from 'zod'
import type { Release } from '../release/release.ts'
import { architectures } from '../release/release.ts'
import { releaseParam } from '../release/schema.ts'
import { Secret } from '../secret.ts'

/** One message whatever stands there: those of zod may show the value. */
const always = (message: string) => ({ error: () => message })
const text = (message: string) => z.string(always(message)).trim().min(1, message)

const guid = (what: string) => {
  const message = `This is no ${what}.\nWrite the GUID that it has in Azure.`
  return z.string(always(message)).regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, message)
}

const noHttps = 'This is no address of Azure.\nWrite https://HOST, without port, path and query.'
const https = z.string(always(noHttps)).regex(/^https:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/?$/i, noHttps)

const noCluster =
  'This is no ARM id of a cluster.\nWrite /subscriptions/GUID/resourceGroups/NAME/providers/Microsoft.ContainerService/managedClusters/NAME.'
const cluster = z
  .string(always(noCluster))
  .regex(
    /^\/subscriptions\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/resourceGroups\/[^/\s]+\/providers\/Microsoft\.ContainerService\/managedClusters\/[^/\s]+$/i,
    noCluster,
  )

const openSecret =
  'A secret belongs here, and it never stands in the file itself.\nWrite !secret env:NAME, !secret file:PATH or !secret command:PROGRAM ARGUMENT.'
const secret = z.custom<Secret>((value) => value instanceof Secret, openSecret)

const noText = 'A text belongs here.\nWrite a text, or a secret as the whole value.'
const maybeSecret = z.union([text(noText), z.custom<Secret>((value) => value instanceof Secret, noText)])

/** The mapping itself, so that the values in it that are secrets stay what they are. */
const mapping = (what: string) =>
  z.record(z.string(), z.unknown(), always(`A mapping belongs here.\nWrite ${what} as a mapping.`))

const noDigest = 'This is no SHA-256 digest.\nWrite its 64 hexadecimal digits, as sha256sum prints them.'
const noPath = 'This is no path.\nName a file on this machine.'
const noKeys = 'A list of public keys belongs here.\nWrite each as it stands in a .pub file, or name that file.'
const noVersion = 'This is no version of an API.\nWrite it as Azure does, such as 2026-01-01.'

const ways = ['arc', 'msi', 'service-principal'] as const

/** The variable `provision`. The agent's release is the variable `agent`, as for an installation over SSH. */
export const provisionParam = z.strictObject(
  {
    auth: z.enum(ways).exactOptional().describe('how the host proves to Azure who it is'),
    msi_client_id: guid('client id of an identity').exactOptional().describe('a user-assigned identity'),
    sp_tenant_id: guid('id of a tenant').exactOptional().describe('of the service principal'),
    sp_client_id: guid('client id').exactOptional().describe('of the service principal'),
    sp_client_secret: secret.exactOptional().describe('of the service principal, a secret'),
    sp_client_certificate: text(noPath)
      .exactOptional()
      .describe('instead of it: a PEM or PFX file on this machine, key and certificate in it'),
    cluster_resource_id: cluster.exactOptional().describe('the cluster to join'),
    agent_pool_name: text('This is no name of a pool.\nWrite the name of the agent pool.')
      .exactOptional()
      .describe('the agent pool to join'),
    fetch_bootstrap_data: z
      .boolean(always('This is neither true nor false.\nWrite true or false.'))
      .exactOptional()
      .describe('the host fetches from Azure what it joins with'),
    bootstrap_data_api_version: z
      .string(always(noVersion))
      .regex(/^\d{4}-\d{2}-\d{2}(?:-preview)?$/, noVersion)
      .exactOptional()
      .describe('of the API that is asked for it'),
    resource_manager_endpoint: https.exactOptional().describe('of another cloud than the public one'),
    authority_host: https.exactOptional().describe('of another cloud than the public one'),
    bootstrap_oci_image: maybeSecret.exactOptional().describe('bootstrap.ociImage of config.json'),
    offline_artifacts_source: maybeSecret.exactOptional().describe('bootstrap.offlineArtifacts.source of config.json'),
    base_config: mapping('the sections of config.json')
      .exactOptional()
      .describe('what config.json is made from; secrets may be in it'),
    config_overrides: mapping('the sections of config.json')
      .exactOptional()
      .describe('is laid over that, and over what is fetched; not for secrets'),
    architecture: z
      .enum(architectures, always('This is no architecture.\nWrite amd64 or arm64.'))
      .exactOptional()
      .describe('needed where the release has binaries for both'),
    bootstrap_script: text(noPath).exactOptional().describe("a release's bootstrap.sh on this machine, used unchanged"),
    bootstrap_script_sha256: z
      .string(always(noDigest))
      .regex(/^(?:sha256:)?[0-9a-f]{64}$/i, noDigest)
      .exactOptional()
      .describe('its digest'),
    ssh_authorized_keys: z
      .array(text(noKeys), always(noKeys))
      .exactOptional()
      .describe('public keys, or files of them, that may log in'),
  },
  {
    error: (issue) =>
      issue.code === 'invalid_type' ? 'A mapping belongs here.\nGive at least auth or base_config.' : undefined,
  },
)

export type Provision = z.output<typeof provisionParam>

/** All that a host's provisioning is made of, beside what the command line gives for all of them. */
export const inputsShape = z.strictObject({ agent: releaseParam, provision: provisionParam })

export interface Inputs {
  readonly agent: Release
  readonly provision: Provision
}
