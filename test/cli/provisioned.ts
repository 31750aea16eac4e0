import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { drover, type Ran, type World } from './harness.ts'

/** What the tests of `drover ignition` and `drover cloud-init` provision hosts with. */

export const guid = '44654aed-2753-4b88-9142-af7132933b6b'
export const cluster = `/subscriptions/${guid}/resourceGroups/edge/providers/Microsoft.ContainerService/managedClusters/prod`
export const digest = 'ab'.repeat(32)
export const agent = {
  version: 'v0.4.1',
  hostRootSince: 'v0.4.0',
  amd64: { url: 'https://releases.test/v0.4.1/agent.tar.gz', sha256: digest },
}
export const fetching = {
  auth: 'arc',
  cluster_resource_id: cluster,
  agent_pool_name: 'edge',
  fetch_bootstrap_data: true,
}
export const principal = { ...fetching, auth: 'service-principal', sp_tenant_id: guid, sp_client_id: guid }
export const token = 'abcdef.0123456789abcdef'

const length = Buffer.from([0, 0, 0, 11])
export const key = `ssh-ed25519 ${Buffer.concat([length, Buffer.from('ssh-ed25519'), Buffer.alloc(36, 1)]).toString('base64')} alice`

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

export interface Asked {
  readonly vars?: object
  readonly hosts?: object
  readonly words?: readonly string[]
  readonly world?: World
}

/** Variables as YAML, so that `{secret: {env: NAME}}` in them is what `!secret env:NAME` is. */
export const provision = (
  verb: 'ignition' | 'cloud-init',
  { vars = { agent, provision: fetching }, hosts = { acl1: {} }, words = [], world = {} }: Asked = {},
): Promise<Ran> =>
  drover([verb, '-i', 'hosts.yaml', '--out', 'out', ...words], {
    ...world,
    files: { 'hosts.yaml': stringify({ vars, hosts }), ...world.files },
  })

export const fileIn = (ran: Ran, name: string): string => readFileSync(join(ran.cwd, 'out', name), 'utf8')

interface Written {
  readonly path: string
  readonly mode: number
  readonly overwrite: boolean
  readonly contents: { readonly source: string }
}

/** The files of a host's Ignition, by their name. */
export const filesOf = (
  ran: Ran,
  host = 'acl1',
): Readonly<Record<string, { text: string; mode: number; path: string }>> => {
  const { storage } = JSON.parse(fileIn(ran, `${host}.ign`)) as { storage: { files: readonly Written[] } }
  return Object.fromEntries(
    storage.files.map(({ path, mode, contents }) => [
      path.replace(/^.*\//, ''),
      { path, mode, text: Buffer.from(contents.source.replace(/^data:;base64,/, ''), 'base64').toString('latin1') },
    ]),
  )
}
