import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import type { BecomeMethod, Host, HostKeyPolicy, Inventory, TransportChoice } from '../inventory/host.ts'
import { selectHosts } from '../inventory/patterns.ts'
import { readInventory } from '../inventory/read.ts'
import type { CliContext } from './context.ts'
import type { PasswordOptions } from './passwords.ts'
import { fillBySshConfig } from './ssh-config.ts'

export interface InventoryOptions {
  readonly inventory?: readonly string[]
  readonly limit?: string
}

export interface ConnectionOptions extends PasswordOptions {
  /** For hosts whose user or key the inventory does not name, as in Ansible. */
  readonly user?: string
  readonly privateKey?: string
  /** For all hosts, jump hosts too, whatever the inventory says. */
  readonly knownHosts?: string
  readonly hostKeyPolicy?: HostKeyPolicy
  /** For all hosts, jump hosts too, whatever the inventory says. */
  readonly transport?: TransportChoice
  /** A file, or `none`. */
  readonly sshConfig?: string
  /** Root rights through sudo on all hosts; without it the inventory decides. */
  readonly become?: boolean
  /** Seconds, for TCP and for the handshake each. */
  readonly connectTimeout?: number
  /** For hosts whose method the inventory does not name. */
  readonly becomeMethod?: BecomeMethod
}

/** The options as they were given, for a command that is suggested. */
export const connectionWords = ({
  user,
  privateKey,
  knownHosts,
  hostKeyPolicy,
  transport,
  sshConfig,
  become,
  becomeMethod,
  askPass,
  connectionPasswordFile,
  askBecomePass,
  becomePasswordFile,
  connectTimeout,
}: ConnectionOptions): string[] => [
  ...(user === undefined ? [] : ['-u', user]),
  ...(privateKey === undefined ? [] : ['--private-key', privateKey]),
  ...(knownHosts === undefined ? [] : ['--known-hosts', knownHosts]),
  ...(hostKeyPolicy === undefined ? [] : ['--host-key-policy', hostKeyPolicy]),
  ...(transport === undefined ? [] : ['--transport', transport]),
  ...(sshConfig === undefined ? [] : ['-F', sshConfig]),
  ...(become === true ? ['-b'] : []),
  ...(becomeMethod === undefined ? [] : ['--become-method', becomeMethod]),
  ...(askPass === true ? ['-k'] : []),
  ...(connectionPasswordFile === undefined ? [] : ['--connection-password-file', connectionPasswordFile]),
  ...(askBecomePass === true ? ['-K'] : []),
  ...(becomePasswordFile === undefined ? [] : ['--become-password-file', becomePasswordFile]),
  ...(connectTimeout === undefined ? [] : ['-T', String(connectTimeout)]),
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

/** Tells what is about many hosts. */
export type Tell = (message: string) => void

/** The hosts of `--limit`, as the command line, the inventory and ssh_config want them reached, in this order. */
export const chooseHosts = async (
  context: CliContext,
  inventory: Inventory,
  options: InventoryOptions & ConnectionOptions,
  tell: Tell,
): Promise<readonly Host[]> => {
  const chosen = selectHosts(inventory, options.limit ?? 'all', { cwd: context.cwd })
  const reached = reachedBy(context, options)
  return fillBySshConfig(context, chosen.map(reached), { file: options.sshConfig, user: options.user, reached, tell })
}

/** What the command line says of a host and its way. */
const reachedBy = ({ cwd }: CliContext, options: ConnectionOptions): ((host: Host) => Host) => {
  const { user, privateKey, knownHosts, hostKeyPolicy, transport, become, becomeMethod } = options
  const reached = (host: Host): Host => {
    const isKeyFree = privateKey !== undefined && host.identityFiles.length === 0
    return {
      ...host,
      ...(isKeyFree && { identityFiles: [resolve(cwd, privateKey)] }),
      ...(knownHosts !== undefined && { knownHostsFiles: [resolve(cwd, knownHosts)] }),
      ...(hostKeyPolicy !== undefined && { hostKeyPolicy }),
      ...(transport !== undefined && { transport }),
      ...(become === true && { become }),
      ...(becomeMethod !== undefined && host.becomeMethod === undefined && { becomeMethod }),
      given: [
        ...(host.given ?? []),
        ...(user === undefined ? [] : (['user'] as const)),
        ...(isKeyFree ? (['identityFiles'] as const) : []),
        ...(knownHosts === undefined ? [] : (['knownHostsFiles'] as const)),
        ...(hostKeyPolicy === undefined ? [] : (['hostKeyPolicy'] as const)),
      ],
      jump: host.jump.map(reached),
    }
  }
  return reached
}
