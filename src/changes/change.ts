import type { UnitModel, UnitProperty } from '../facts/unit.ts'
import type { Secret } from '../secret.ts'

/** What a change found when it was planned. The host refuses the change as `drifted` if that is no longer so. */
export type Expectation =
  | { readonly path: string; readonly is: 'absent' | 'directory' | 'other' }
  | { readonly path: string; readonly is: 'file'; readonly sha256?: string }
  | { readonly path: string; readonly is: 'symlink'; readonly target: string }
  /** Exactly these names lie in the directory. */
  | { readonly directory: string; readonly holds: readonly string[] }
  | { readonly unit: string; readonly property: UnitProperty; readonly value: string }

/** A condition the host itself waits for, never a loop over the wire. */
export type Condition =
  /** Active, with one InvocationID for the whole stability window. */
  | { readonly unit: string; readonly is: 'active' }
  /** Active and still the very process seen before: a change nearby must not have touched it. */
  | { readonly unit: string; readonly is: 'untouched'; readonly mainPid: string }
  /** machinectl says `running`. */
  | { readonly machine: string; readonly is: 'running' }
  /** Fewer starts of the unit than this in its limit window. */
  | { readonly unit: string; readonly is: 'startable'; readonly below: number; readonly windowS: number }

/** `start` queues the start and returns at once: an `await` after it says how long it may take. */
type SystemctlVerb = 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'daemon-reload' | 'reset-failed'

/**
 * Everything that can be done to a host: a closed set. Each is atomic by itself. A change is data: what it
 * does to the state is in predict.ts, what runs on the host is in compile.ts.
 */
export type Change = ChangeKind & {
  /** Further things the plan relied on, beyond what the change overwrites. */
  readonly relies?: readonly Expectation[]
  /** Keys of facts nobody knows afterwards: `path:/x`, `unit:y.service` (a started agent writes by itself). */
  readonly spoils?: readonly string[]
  /** The error to report instead of `change-failed`: code, message and remedy in the domain's words. */
  readonly failure?: { readonly code: FailureCode; readonly message: string; readonly remedy: string }
}

type FailureCode = 'worker-down' | 'worker-leader-changed' | 'start-limit-near' | 'precondition-unmet'

type ChangeKind =
  /** A regular file, whole or not at all: beside the target, fsync, mode, owner, label, rename. */
  | {
      readonly kind: 'write'
      readonly path: string
      readonly content: string | Secret
      /** Permission bits. */
      readonly mode: number
      /** `user:group`, names or numbers. */
      readonly owner: string
      /** For unit files: what it makes true once loaded. */
      readonly model?: UnitModel
    }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** One directory; its parent exists or an earlier change makes it. */
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number; readonly owner: string }
  /** Mode and owner of something that stays otherwise. */
  | { readonly kind: 'attributes'; readonly path: string; readonly mode: number; readonly owner: string }
  /** A file, link or directory. A tree only with `recurse`; it is renamed aside first, so it goes at once. */
  | { readonly kind: 'remove'; readonly path: string; readonly recurse: boolean }
  | { readonly kind: 'systemctl'; readonly verb: 'daemon-reload' }
  | { readonly kind: 'systemctl'; readonly verb: Exclude<SystemctlVerb, 'daemon-reload'>; readonly unit: string }
  | { readonly kind: 'package'; readonly install: readonly string[]; readonly manager: 'apt' | 'dnf' }
  | { readonly kind: 'await'; readonly condition: Condition; readonly withinMs: number; readonly stableMs: number }
  /**
   * The host is told to reboot, and is back on another boot within that time. The last change of its step and of its
   * segment: what comes after it is planned on what the host looks like then.
   */
  | { readonly kind: 'reboot'; readonly withinMs: number }
  /** Opaque, so nothing can be predicted of it but what it spoils. */
  | {
      readonly kind: 'run'
      readonly argv: readonly string[]
      readonly timeoutMs: number
      readonly spoils: readonly string[]
    }
