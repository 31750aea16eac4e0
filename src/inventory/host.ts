/** A value as YAML can hold it. Variables are data; nothing in them is ever run. */
export type VarValue = string | number | boolean | null | readonly VarValue[] | { readonly [key: string]: VarValue }
export type Vars = Readonly<Record<string, VarValue>>

export type HostKeyPolicy = 'strict' | 'accept-new' | 'off'

/** How a host is reached. The same address, port and jump path is the same host, whatever it is called. */
export interface Host {
  readonly name: string
  readonly address: string
  /** 1 to 65535. */
  readonly port: number
  readonly user: string
  /** Private key files, tried in order; empty: the agent alone. Absolute paths. */
  readonly identityFiles: readonly string[]
  /** Run everything as root through sudo. */
  readonly become: boolean
  /** The whole way, nearest to the workstation first; the hops' own `jump` is not followed again. */
  readonly jump: readonly Host[]
  /** How the agent is deployed (domain.md 3.2). */
  readonly variant: 'host' | 'container'
  /** The inventory's word on offline bootstrap; the host's own config.json wins (W6). */
  readonly offline: boolean
  /** known_hosts files, absolute; empty: the user's and the system's. */
  readonly knownHostsFiles: readonly string[]
  readonly hostKeyPolicy: HostKeyPolicy
  /** Every group the host is in, parents included, `all` first. */
  readonly groups: readonly string[]
  readonly vars: Vars
}

/** A group as drover shows it: direct hosts and children by name. */
export interface Group {
  readonly name: string
  readonly hosts: readonly string[]
  readonly children: readonly string[]
  readonly vars: Vars
}

export interface Inventory {
  /** What was read, for messages and digests: file paths, or the literal text. */
  readonly sources: readonly string[]
  /** In the order of the sources. */
  readonly hosts: readonly Host[]
  readonly groups: readonly Group[]
}
