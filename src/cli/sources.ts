import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import type { Host, HostKeyPolicy, Inventory } from '../inventory/host.ts'
import { selectHosts } from '../inventory/patterns.ts'
import { readInventory } from '../inventory/read.ts'
import type { CliContext } from './context.ts'

export interface InventoryOptions {
  readonly inventory?: readonly string[]
  readonly limit?: string
}

/** What the command line says of all hosts, above what the inventory says. */
export interface ConnectionOptions {
  readonly user?: string
  readonly privateKey?: string
  readonly knownHosts?: string
  readonly hostKeyPolicy?: HostKeyPolicy
}

export interface Sources {
  readonly inventory: Inventory
  readonly digests: readonly { readonly source: string; readonly sha256: string }[]
}

export const readSources = (context: CliContext, { inventory: given }: InventoryOptions): Sources => {
  const names = given ?? (context.env.DROVER_INVENTORY ? [context.env.DROVER_INVENTORY] : [])
  if (names.length === 0) {
    throw new DroverError({
      code: 'usage',
      message: 'No inventory is given.',
      remedy: 'Name one with -i FILE, list hosts with -i "host," (the comma matters), or set DROVER_INVENTORY.',
    })
  }
  const read = new Map<string, string>()
  const { cwd, home, user: defaultUser } = context
  const inventory = readInventory(names, {
    cwd,
    home,
    defaultUser,
    readFile: (path) => {
      const bytes = readFileSync(path)
      read.set(path, sha256(bytes))
      return bytes
    },
  })
  return { inventory, digests: names.map((source) => ({ source, sha256: read.get(resolve(cwd, source)) ?? sha256(source) })) }
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** The hosts of `--limit`, as the command line wants them reached. */
export const chooseHosts = (context: CliContext, inventory: Inventory, options: InventoryOptions & ConnectionOptions): readonly Host[] =>
  selectHosts(inventory, options.limit ?? 'all', { cwd: context.cwd }).map((host) => ({
    ...host,
    ...reached(context, host, options),
    ...(options.user !== undefined && { user: options.user }),
    ...(options.privateKey !== undefined && { identityFiles: [resolve(context.cwd, options.privateKey)] }),
    jump: host.jump.map((hop) => ({ ...hop, ...reached(context, hop, options) })),
  }))

// A jump host keeps its own user and its own keys: they are seldom those of the hosts behind it.
const reached = ({ cwd }: CliContext, host: Host, { privateKey, knownHosts, hostKeyPolicy }: ConnectionOptions): Partial<Host> => ({
  ...(privateKey !== undefined && host.identityFiles.length === 0 && { identityFiles: [resolve(cwd, privateKey)] }),
  ...(knownHosts !== undefined && { knownHostsFiles: [resolve(cwd, knownHosts)] }),
  ...(hostKeyPolicy !== undefined && { hostKeyPolicy }),
})
