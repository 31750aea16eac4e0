import type { Host, Vars, VarValue } from '../inventory/host.ts'

/** A playbook as it was read: variables not yet put in, so one playbook serves every host. */
export interface Playbook {
  readonly name: string
  readonly description: string
  /** Where it was read, for messages and digests. */
  readonly file: string
  readonly sha256: string
  /** Pattern of the hosts it is for; `--limit` narrows it. */
  readonly hosts: string
  /** Weakest of all: below anything the inventory says. */
  readonly defaults: Vars
  /** Above the inventory, below `-e`. */
  readonly vars: Vars
  /** Null: nothing is asked before it. */
  readonly confirm: Confirm | null
  readonly steps: readonly PlaybookStep[]
  /** Where values stand in the file, by the JSON of their path; for messages only. */
  readonly positions?: Readonly<Record<string, { readonly line: number; readonly column: number }>>
}

/** It does what cannot be undone, so somebody has to say that it is meant before any host is touched. */
export interface Confirm {
  /** What cannot be undone, in one sentence. */
  readonly says: string
  /** A flag that has to be given besides. */
  readonly also?: 'yes-remove-everything'
}

export interface PlaybookStep {
  /** Unique in the playbook; the task's name where none is given. */
  readonly name: string
  readonly task: string
  /** Parameters with `${var}` still in them. */
  readonly with: Readonly<Record<string, VarValue>>
  /** A pattern: the step is for these hosts only. */
  readonly hosts: string | null
  readonly when: When | null
  /** The most that its changes may take on a host, in seconds. */
  readonly timeout?: number
  readonly position: { readonly line: number; readonly column: number }
}

/** All that are given must hold. */
export interface When {
  readonly os?: readonly string[]
  readonly variant?: 'host' | 'container'
  /** The host is in one of these groups. */
  readonly group?: readonly string[]
  readonly facts?: readonly FactCondition[]
}

export type FactCondition =
  | { readonly unit: string; readonly property: string; readonly is: string }
  | { readonly path: string; readonly is: 'absent' | 'file' | 'directory' | 'symlink' }

/** A step made ready for one host: variables put in, parameters parsed by the task's schema. */
export interface HostStep {
  readonly name: string
  readonly task: string
  readonly params: unknown
  readonly when: When | null
  readonly timeoutS?: number
}

/** What one host is to go through. */
export interface HostPlay {
  readonly host: Host
  readonly steps: readonly HostStep[]
}
