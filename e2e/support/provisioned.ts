// What drover renders for a host of the lab, by the real command.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeReferences } from '../../src/playbook/reference.ts'
import type { LabHost } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'
import { drover } from './drover.ts'
import type { Ignition } from './ignition.ts'

/** Arrives only if every step on the way quotes it rightly (domain.md 10). */
export const PROBE = '$HOME ${X} %h %% "q" \\ it\'s'

export interface ProvisionedAgent {
  readonly version: string
  readonly url: string
  readonly sha256: string
}

const base_config = {
  azure: {
    targetCluster: {
      resourceId:
        '/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab',
    },
  },
}

const rendered = async (
  verb: 'ignition' | 'cloud-init',
  lab: Lab,
  host: LabHost,
  agent: ProvisionedAgent,
): Promise<string> => {
  const { version, url, sha256 } = agent
  const folder = join(lab.folder, 'provision', host.name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const inventory = join(folder, 'inventory.yaml')
  const vars = {
    agent: { version, hostRootSince: 'v0.3.0', amd64: { url, sha256 } },
    provision: {
      auth: 'msi', // To drover itself ${X} would be a variable.
      bootstrap_oci_image: escapeReferences(PROBE),
      base_config,
      ssh_authorized_keys: [lab.key.authorizedLine],
    },
  }
  writeFileSync(inventory, JSON.stringify({ hosts: { [host.name]: { address: host.address, vars } } }))
  const out = join(folder, 'out')
  const { code, stdout, stderr } = await drover(lab, [verb, '-i', inventory, '-l', host.name, '--out', out])
  if (code !== 0) throw new Error(`drover ${verb} ended with ${code}:\n${stdout}\n${stderr}`)
  return readFileSync(join(out, `${host.name}.${verb === 'ignition' ? 'ign' : 'user-data'}`), 'utf8')
}

export const ignitionOf = async (lab: Lab, host: LabHost, agent: ProvisionedAgent): Promise<Ignition> =>
  JSON.parse(await rendered('ignition', lab, host, agent)) as Ignition

export const userDataOf = (lab: Lab, host: LabHost, agent: ProvisionedAgent): Promise<string> =>
  rendered('cloud-init', lab, host, agent)
