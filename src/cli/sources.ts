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

export interface ConnectionOptions {
  /** For hosts whose user or key the inventory does not name, as in Ansible. */
  readonly user?: string
  readonly privateKey?: string
  /** For all hosts, jump hosts too, whatever the inventory says. */
  readonly knownHosts?: string
  readonly hostKeyPolicy?: HostKeyPolicy
  /** Root rights through sudo on all hosts; without it the inventory decides. */
  readonly become?: boolean
}

/** The options as they were given, for a command that is suggested. */
export const connectionWords = ({
  user,
  privateKey,
  knownHosts,
  hostKeyPolicy,
  become,
}: ConnectionOptions): string[] => [
  ...(user === undefined ? [] : ['-u', user]),
  ...(privateKey === undefined ? [] : ['--private-key', privateKey]),
  ...(knownHosts === undefined ? [] : ['--known-hosts', knownHosts]),
  ...(hostKeyPolicy === undefined ? [] : ['--host-key-policy', hostKeyPolicy]),
  ...(become === true ? ['-b'] : []),
]

export interface Sources {
  readonly inventory: Inventory
  readonly digests: readonly { readonly source: string; readonly sha256: string }[]
}

export const readSources = (
  context: CliContext,
  { inventory: given, user }: InventoryOptions & Pick<ConnectionOptions, 'user'>,
): Sources => {
  const names = given ?? (context.env.DROVER_INVENTORY ? [context.env.DROVER_INVENTORY] : [])
  if (names.length === 0) {
    throw new DroverError({
      code: 'usage',
      message: 'No inventory is given.',
      remedy: 'Name one with -i FILE, list hosts with -i "host," (the comma matters), or set DROVER_INVENTORY.',
    })
  }
  const read = new Map<string, string>()
  const { cwd, home } = context
  const inventory = readInventory(names, {
    cwd,
    home,
    defaultUser: user ?? context.user,
    readFile: (path) => {
      const bytes = readFileSync(path)
      read.set(path, sha256(bytes))
      return bytes
    },
  })
  return {
    inventory,
    digests: names.map((source) => ({ source, sha256: read.get(resolve(cwd, source)) ?? sha256(source) })),
  }
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** The hosts of `--limit`, as the command line wants them reached. */
export const chooseHosts = (
  context: CliContext,
  inventory: Inventory,
  options: InventoryOptions & ConnectionOptions,
): readonly Host[] => {
  const { privateKey, knownHosts, hostKeyPolicy, become } = options
  const reached = (host: Host): Host => ({
    ...host,
    ...(privateKey !== undefined &&
      host.identityFiles.length === 0 && { identityFiles: [resolve(context.cwd, privateKey)] }),
    ...(knownHosts !== undefined && { knownHostsFiles: [resolve(context.cwd, knownHosts)] }),
    ...(hostKeyPolicy !== undefined && { hostKeyPolicy }),
    ...(become === true && { become }),
    jump: host.jump.map(reached),
  })
  return selectHosts(inventory, options.limit ?? 'all', { cwd: context.cwd }).map(reached)
}
