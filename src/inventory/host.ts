import type { SecretReference } from '../secret.ts'

/** A value as YAML can hold it. Variables are data; nothing in them is ever run. */
export type VarValue = string | number | boolean | null | readonly VarValue[] | { readonly [key: string]: VarValue }
export type Vars = Readonly<Record<string, VarValue>>

export type HostKeyPolicy = 'strict' | 'accept-new' | 'off'

/** Which client opens the connection; `auto`: ssh2, or openssh where something is asked for that only it can do. */
export type TransportChoice = 'auto' | 'ssh2' | 'openssh'

export type BecomeMethod = 'sudo' | 'doas'

/** What the user's ssh_config may say where neither the inventory nor the command line does. */
export type GivenField =
  | 'address'
  | 'port'
  | 'user'
  | 'identityFiles'
  | 'jump'
  | 'knownHostsFiles'
  | 'hostKeyPolicy'
  | 'hostKeyAlias'
  | 'certificateFiles'

/**
 * What ssh_config asks for a host that is a matter of the client: some of it is a reason to take the openssh client.
 * Absent or false: not asked for. Lists are as ssh resolved them, and there only where the user's file has them.
 */
export interface SshOptions {
  /** What `ssh` is called with to find the same settings: the address that was asked for, before HostName. */
  readonly destination: string
  readonly proxyCommand?: string
  /** GSSAPIAuthentication yes in a file of the user's; distributions set it for everybody. */
  readonly gssapi?: boolean
  readonly pkcs11Provider?: string
  readonly securityKeyProvider?: string
  readonly kexAlgorithms?: readonly string[]
  readonly hostKeyAlgorithms?: readonly string[]
  readonly ciphers?: readonly string[]
  readonly macs?: readonly string[]
}

/** How a host is reached. The same address, port and jump path is the same host, whatever it is called. */
export interface Host {
  readonly name: string
  readonly address: string
  /** 1 to 65535. */
  readonly port: number
  readonly user: string
  /** Private key files, tried in order; empty: the agent alone. Absolute paths. */
  readonly identityFiles: readonly string[]
  /** Only `identityFiles` are offered, whatever else ssh-agent holds. */
  readonly identitiesOnly?: boolean
  /** OpenSSH user certificates; absolute paths. One beside an identity file (`-cert.pub`) is found without this. */
  readonly certificateFiles?: readonly string[]
  /** The socket of ssh-agent for this host, or `none`; absent: that of the environment. */
  readonly identityAgent?: string
  /** For password and keyboard-interactive logins; absent: what `-k` or DROVER_SSH_PASSWORD gave, if anything. */
  readonly password?: SecretReference
  /** Absent: `auto`. */
  readonly transport?: TransportChoice
  /** Run everything as root. */
  readonly become: boolean
  /** Absent: sudo. */
  readonly becomeMethod?: BecomeMethod
  /** Absent: what `-K`, `--become-password-file` or DROVER_BECOME_PASSWORD gave, if anything. */
  readonly becomePassword?: SecretReference
  /** The whole way, nearest to the workstation first; the hops' own `jump` is not followed again. */
  readonly jump: readonly Host[]
  /** How the agent is deployed (domain.md 3.2). */
  readonly variant: 'host' | 'container'
  /** The inventory's word on offline bootstrap; the host's own config.json wins (W6). */
  readonly offline: boolean
  /** known_hosts files, absolute; empty: the user's and the system's. */
  readonly knownHostsFiles: readonly string[]
  readonly hostKeyPolicy: HostKeyPolicy
  /** The name to look the host key up by, instead of address and port. */
  readonly hostKeyAlias?: string
  /** A connection silent for interval x (count + 1) is dead; absent: 15 s, 3. From ServerAlive* of ssh_config. */
  readonly keepalive?: { readonly intervalMs: number; readonly countMax: number }
  /** What ssh_config asks for beyond this; absent: it was not looked at. */
  readonly sshOptions?: SshOptions
  /** What inventory or command line said; ssh_config fills in the rest. Absent: nothing. */
  readonly given?: readonly GivenField[]
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
