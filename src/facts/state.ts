import type { Tree } from './tree.ts'
import type { UnitState } from './unit.ts'
import type { Known } from './unknown.ts'

export type OsFamily = 'rhel' | 'ubuntu' | 'debian' | 'acl' | 'other'

/** Read on every host, whatever the steps ask. */
export interface OsFacts {
  readonly id: string
  readonly idLike: readonly string[]
  readonly variantId: string
  readonly versionId: string
  readonly prettyName: string
  readonly family: OsFamily
  /** As `uname -m` says: x86_64, aarch64. */
  readonly architecture: string
  /** The major number as measured on the host, 0 where systemctl does not answer. Never guessed from the family. */
  readonly systemdVersion: number
  /** What `systemctl show` calls Virtualization; empty on metal. */
  readonly virtualization: string
  /** running, degraded, starting, ... */
  readonly systemState: string
  readonly bootId: string
  /** Clock ticks since the kernel's boot at which PID 1 started: tells a container's reboot, too. */
  readonly pid1Start: string
  readonly machineId: string
  readonly uptimeS: number
  readonly selinux: 'enforcing' | 'permissive' | 'disabled'
  /** The uid that the facts were read as. */
  readonly uid: number
  /** Seconds since 1970 by the host's own clock. */
  readonly clockS: number
  /** /run/systemd/system exists: systemd is PID 1. */
  readonly isSystemd: boolean
}

/** Drover's own marks on the host. */
export interface SelfFacts {
  readonly lease: { readonly run: string; readonly owner: string; readonly since: string; readonly ageS: number } | null
  /** Description of `drover-apply.service` while it runs. */
  readonly applying: string | null
  /** What a cut run still owes: `daemon-reload`, `restart:NAME`. */
  readonly owed: readonly string[]
  /** `armed`, `undoing` or `rolled-back` with the line that says whose and since when. */
  readonly rollback: {
    readonly phase: 'armed' | 'undoing' | 'rolled-back'
    readonly text: string
    readonly isProved?: true
  } | null
  /** Temporary files of ours that a cut run left in directories that were asked about. */
  readonly leftovers: readonly string[]
}

export interface MountFacts {
  readonly mountPoint: string
  readonly fsType: string
  readonly readOnly: boolean
  readonly noexec: boolean
  readonly freeBytes: number
  readonly freeInodes: number
}

export interface CommandResult {
  /** 124: its deadline passed; 127: not found. */
  readonly code: number
  readonly stdout: string
}

/** Whether `systemctl show` could be asked at all. */
export type SystemdAnswer = { readonly ok: true } | { readonly ok: false; readonly error: string }

/** All that is known of a host at one moment, read or predicted. Immutable. */
export interface HostState {
  readonly os: OsFacts
  readonly self: SelfFacts
  /** It has been booted since the run first looked at it. */
  readonly rebooted: boolean
  readonly systemd: SystemdAnswer
  readonly tree: Tree
  readonly units: ReadonlyMap<string, UnitState>
  /** Or why the host would not say. */
  readonly mounts: ReadonlyMap<string, MountFacts | { readonly unreadable: string }>
  /** Installed version, or null. */
  readonly packages: ReadonlyMap<string, Known<string | null>>
  /** What installs packages; null where nothing may (ACL) or nothing was asked. */
  readonly packageManager: 'apt' | 'dnf' | null
  /** Path, or null. */
  readonly programs: ReadonlyMap<string, Known<string | null>>
  /** By commandKey. */
  readonly commands: ReadonlyMap<string, Known<CommandResult>>
  /** Listening: the owner's name where it can be seen, else an empty string; free: null. */
  readonly ports: ReadonlyMap<number, Known<string | null | { readonly unreadable: string }>>
  /** By probeKey. */
  readonly probes: ReadonlyMap<string, Known<CommandResult>>
  /** Paths whose content is a secret: digests only in anything that is shown. */
  readonly secretPaths: ReadonlySet<string>
}
