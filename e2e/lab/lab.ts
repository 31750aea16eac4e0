// A lab: some hosts on one network, with one client key. Every test file opens its own; `npm run lab -- up` opens the one called up.
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeContainer, startContainer } from './container.ts'
import { docker } from './docker.ts'
import { ensureEngine } from './engine.ts'
import { type HostSpec, LabHost } from './host.ts'
import { ensureImages, imageName } from './images.ts'
import { type ClientKey, ensureClientKey, type KnownHost, knownHostsText } from './keys.ts'
import { raiseInotifyLimit } from './limits.ts'
import { ensureNetwork, type LabNetwork, takenAddresses } from './network.ts'
import { authorize, provision } from './provision.ts'
import { checkoutId, stateFolder } from './state.ts'

export class Lab {
  readonly id: string
  /** The lab's folder: client key, known_hosts, inventory. */
  readonly folder: string
  readonly key: ClientKey
  readonly #network: LabNetwork
  readonly #hosts = new Map<string, LabHost>()
  readonly #known = new Map<string, KnownHost>()
  readonly #booting = new Set<Promise<unknown>>()
  readonly #reserved: Set<string>
  readonly #yes: boolean

  constructor(id: string, folder: string, key: ClientKey, network: LabNetwork, taken: Set<string>, yes: boolean) {
    this.id = id
    this.folder = folder
    this.key = key
    this.#network = network
    this.#reserved = taken
    this.#yes = yes
  }

  get hosts(): readonly LabHost[] {
    return [...this.#hosts.values()]
  }

  get knownHostsFile(): string {
    return join(this.folder, 'known_hosts')
  }

  host(name: string): LabHost {
    const host = this.#hosts.get(name)
    if (host === undefined) throw new Error(`lab ${this.id} has no host ${name}`)
    return host
  }

  /** Boot a host and make it what its spec says. Several may be booted at once. */
  boot(spec: HostSpec): Promise<LabHost> {
    const booting = this.#boot(spec)
    const settled = booting.catch(() => undefined).finally(() => this.#booting.delete(settled))
    this.#booting.add(settled)
    return booting
  }

  async #boot(spec: HostSpec): Promise<LabHost> {
    if (this.#hosts.has(spec.name)) throw new Error(`lab ${this.id} has a host ${spec.name} already`)
    const address = this.#reserve()
    await ensureImages([spec.image], { yes: this.#yes })
    const id = await startContainer({
      image: imageName(spec.image),
      name: `drover-${checkoutId}-${this.id}-${spec.name}`,
      hostname: spec.name,
      network: this.#network,
      address,
      labels: {
        'drover.lab': this.id,
        'drover.checkout': checkoutId,
        'drover.host': JSON.stringify(spec),
        'drover.address': address,
      },
    })
    const host = new LabHost(id, spec, address)
    this.#hosts.set(spec.name, host)
    try {
      await host.untilUp()
      await authorize(host, this.key.authorizedLine)
      await provision(host)
      await this.#learnKeys(host)
    } catch (error) {
      throw new Error(
        `host ${spec.name} did not come up; its last words:\n${await host.lastWords().catch(() => '(none)')}`,
        {
          cause: error,
        },
      )
    }
    return host
  }

  /** Take up the hosts that an earlier process booted. */
  async attach(): Promise<void> {
    for (const host of await findHosts(this.id)) {
      this.#hosts.set(host.name, host)
      await this.#learnKeys(host)
    }
  }

  async remove(name: string): Promise<void> {
    await this.host(name).stop()
    this.#hosts.delete(name)
    this.#known.delete(name)
    this.#writeKnownHosts()
  }

  async #learnKeys(host: LabHost): Promise<void> {
    this.#known.set(host.name, { address: host.address, publicKeys: await host.hostKeys() })
    this.#writeKnownHosts()
  }

  #writeKnownHosts(): void {
    writeFileSync(this.knownHostsFile, knownHostsText([...this.#known.values()]), { mode: 0o600 })
  }

  /** Remove the lab: hosts, network, folder. Hosts that are just booting are waited for, else they would be left behind. */
  async close(): Promise<void> {
    await Promise.all(this.#booting)
    await removeLabs([`drover.lab=${this.id}`])
    await rm(this.folder, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** The next free address. Synchronous, so that hosts booted at the same time get different ones. .1 is this machine's end. */
  #reserve(): string {
    for (let last = 2; last < 255; last += 1) {
      const address = `${this.#network.prefix}.${last}`
      if (this.#reserved.has(address)) continue
      this.#reserved.add(address)
      return address
    }
    throw new Error(`lab ${this.id} is full: 253 hosts`)
  }
}

export interface LabOptions {
  /** Install packages without asking. */
  yes?: boolean
  /** Keep the hosts that an earlier process left in a lab of this name; otherwise they are removed first. */
  keep?: boolean
}

/** Open the lab of this name, starting the engine if need be. Two test files must not share a name: each would remove the other's hosts. */
export async function openLab(id: string, options: LabOptions = {}): Promise<Lab> {
  if (!/^[a-z0-9][a-z0-9-]{0,30}$/.test(id))
    throw new Error(`a lab's name is a short word of a-z, 0-9 and -, not ${JSON.stringify(id)}`)
  await ensureEngine(options)
  raiseInotifyLimit()
  if (!options.keep) await removeLabs([`drover.lab=${id}`])
  const network = await ensureNetwork(id)
  const folder = stateFolder('labs', id)
  return new Lab(id, folder, ensureClientKey(folder), network, await takenAddresses(network), options.yes ?? false)
}

/** The hosts of a lab that are on the engine, whoever booted them. */
export async function findHosts(labId: string): Promise<LabHost[]> {
  const found = await (await docker()).listContainers({
    all: true,
    filters: { label: [`drover.lab=${labId}`, `drover.checkout=${checkoutId}`] },
  })
  const hosts = found.map(
    ({ Id, Labels }) =>
      new LabHost(Id, JSON.parse(Labels['drover.host'] ?? '{}') as HostSpec, Labels['drover.address'] ?? ''),
  )
  return hosts.sort((a, b) => a.name.localeCompare(b.name))
}

/** Remove containers and networks of this checkout's labs that have all of the labels. */
export async function removeLabs(labels: readonly string[] = []): Promise<{ containers: number; networks: number }> {
  const client = await docker()
  const filters = { label: [`drover.checkout=${checkoutId}`, ...labels] }
  const containers = await client.listContainers({ all: true, filters })
  await Promise.all(containers.map((container) => removeContainer(container.Id)))
  const networks = await client.listNetworks({ filters })
  for (const network of networks) await client.getNetwork(network.Id).remove()
  return { containers: containers.length, networks: networks.length }
}
