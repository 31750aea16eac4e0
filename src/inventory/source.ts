import type { SecretReference } from '../secret.ts'
import type { BecomeMethod, HostKeyPolicy, TransportChoice, VarValue } from './host.ts'
import type { Located } from './positions.ts'

/**
 * What every reader of a source hands to the builder, whatever format it read.
 * Names may still hold ranges; paths are absolute; nothing is merged or inherited yet.
 */
export interface Source {
  /** As the user gave it. */
  readonly name: string
  /** Settings and variables for every host. */
  readonly level: Level
  readonly hosts: readonly HostEntry[]
  readonly groups: readonly GroupEntry[]
  /** False where a part could not be read: then an unknown name may only be one that was lost. */
  readonly complete: boolean
}

export interface HostEntry {
  readonly name: Located<string>
  readonly level: Level
}

export interface GroupEntry {
  readonly name: Located<string>
  readonly level: Level
  /** Hosts that the group itself declares. */
  readonly hosts: readonly HostEntry[]
  /** Hosts that are declared elsewhere. */
  readonly members: readonly Located<string>[]
  readonly children: readonly Located<string>[]
}

export interface Level {
  readonly settings: LocatedFields<Settings>
  readonly vars: Readonly<Record<string, Located<VarValue>>>
}

type LocatedFields<T> = { readonly [K in keyof T]?: Located<T[K]> }

export interface Settings {
  readonly address: string
  readonly port: number
  readonly user: string
  readonly identityFiles: readonly string[]
  readonly become: boolean
  /** Names of the inventory or `user@address:port`, nearest to the workstation first. */
  readonly jump: readonly string[]
  readonly variant: 'host' | 'container'
  readonly offline: boolean
  readonly knownHostsFiles: readonly string[]
  readonly hostKeyPolicy: HostKeyPolicy
  readonly hostKeyAlias: string
  readonly certificateFiles: readonly string[]
  readonly transport: TransportChoice
  readonly becomeMethod: BecomeMethod
  readonly password: SecretReference
  readonly becomePassword: SecretReference
}

export const emptyLevel: Level = { settings: {}, vars: {} }
