// One user-defined network per lab, since only there an address can be fixed: on the default bridge two hosts that reboot at the same
// time may come back with each other's address.
import { docker, isStatus } from './docker.ts'
import { checkoutId } from './state.ts'

export interface LabNetwork {
  name: string
  /** The first three numbers of its addresses. */
  prefix: string
}

const RANGE = '172.30'

/** The lab's network, made if missing on the first free /24 of 172.30.0.0/16. */
export async function ensureNetwork(labId: string): Promise<LabNetwork> {
  const name = `drover-lab-${checkoutId}-${labId}`
  const known = await prefixOf(name)
  if (known !== undefined) return { name, prefix: known }
  const client = await docker()
  for (let third = 0; third < 256; third += 1) {
    const prefix = `${RANGE}.${third}`
    try {
      await client.createNetwork({
        Name: name,
        Driver: 'bridge',
        CheckDuplicate: true,
        // No way out: a stand-in agent or a story gone wrong must not reach anything but this machine.
        Internal: true,
        IPAM: { Driver: 'default', Config: [{ Subnet: `${prefix}.0/24`, Gateway: `${prefix}.1` }] },
        Labels: { 'drover.lab': labId, 'drover.checkout': checkoutId },
      })
      return { name, prefix }
    } catch (error) {
      if (isStatus(error, 409)) return ensureExisting(name) // made by another process just now
      if (!/overlap|conflict/i.test(String(error))) throw error
    }
  }
  throw new Error(`no free network below ${RANGE}.0.0/16; \`npm run lab -- down\` removes what earlier labs left`)
}

async function ensureExisting(name: string): Promise<LabNetwork> {
  const prefix = await prefixOf(name)
  if (prefix === undefined) throw new Error(`network ${name} exists but its addresses cannot be read`)
  return { name, prefix }
}

async function prefixOf(name: string): Promise<string | undefined> {
  try {
    const found = await (await docker()).getNetwork(name).inspect()
    const subnet: string | undefined = found.IPAM?.Config?.[0]?.Subnet
    return subnet?.split('.').slice(0, 3).join('.')
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw error
  }
}

/** Addresses of containers that are on the network, running or not: a host in the middle of a reboot keeps its own. */
export async function takenAddresses(network: LabNetwork): Promise<Set<string>> {
  const containers = await (await docker()).listContainers({ all: true, filters: { network: [network.name] } })
  return new Set(containers.map((container) => container.Labels['drover.address'] ?? ''))
}
