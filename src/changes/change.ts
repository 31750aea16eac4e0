import type { UnitModel, UnitProperty } from '../facts/unit.ts'
import type { Secret } from '../secret.ts'
import type { Artifact } from './artifact.ts'
import type { Undo } from './undo.ts'

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
  /** Active with one InvocationID for the whole window, and MainPID runs this file: its real path. */
  | { readonly unit: string; readonly is: 'running-from'; readonly exe: string }
  /** The command exits 0 and, where a line is given, prints exactly that line among others. */
  | {
      readonly command: readonly string[]
      readonly is: 'succeeding'
      readonly timeoutS: number
      readonly line?: string
    }
  /** Nothing is at the path. */
  | { readonly path: string; readonly is: 'gone' }
  /** The host itself gets an HTTP status below 400 there. */
  | { readonly url: string; readonly is: 'answering'; readonly timeoutS: number }

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

type FailureCode =
  | 'worker-down'
  | 'worker-leader-changed'
  | 'start-limit-near'
  | 'precondition-unmet'
  | 'candidate-unfit'
  | 'agent-unhealthy'
  | 'activation-locked'
  | 'preflight-could-not-run'
  | 'preflight-failed'
  | 'copy-unfit'
  | 'move-stuck'
  | 'reset-failed'

/** What the host itself must know to undo a switch rightly, since it does so without anybody to ask (U3). */
export interface GuardScope {
  /** The lock taken while undoing, waited for up to a minute. */
  readonly lock: string
  /** The host root: another kind or link text than when armed, or `.moving` in it, and nothing is undone. */
  readonly root: string
  /**
   * After the links are back: the binary inside the machine that `stateFile` names as active becomes that of `current`.
   * `inside` is its path on the host with that machine as `{machine}`: `/var/lib/machines/{machine}/usr/local/bin/x`.
   */
  readonly worker?: { readonly stateFile: string; readonly current: string; readonly inside: string }
}

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
  /** What lies at `from`, whole, under another name beside it, where nothing is: a directory is swapped in at once. */
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** A file, link or directory. A tree only with `recurse`; it is renamed aside first, so it goes at once. */
  | { readonly kind: 'remove'; readonly path: string; readonly recurse: boolean }
  | { readonly kind: 'systemctl'; readonly verb: 'daemon-reload' }
  | { readonly kind: 'systemctl'; readonly verb: Exclude<SystemctlVerb, 'daemon-reload'>; readonly unit: string }
  | { readonly kind: 'package'; readonly install: readonly string[]; readonly manager: 'apt' | 'dnf' }
  /**
   * `withinMs` 0: asked once, and not again. `orGoOn`: when the time is over that is no failure, since what is planned
   * afterwards copes with both.
   */
  | {
      readonly kind: 'await'
      readonly condition: Condition
      readonly withinMs: number
      readonly stableMs: number
      readonly orGoOn?: true
    }
  /**
   * A big file of this workstation. Its bytes are staged on the host before the segment begins, in the nearest directory
   * that exists by then; the change itself only checks them and puts them in their place. `base`: a file the host has
   * that is much like it, so that only the difference may have to travel.
   */
  | {
      readonly kind: 'upload'
      readonly path: string
      readonly artifact: Artifact
      readonly mode: number
      readonly owner: string
      readonly base?: { readonly path: string; readonly sha256: string }
    }
  /** The content of another file of the host, links followed, which still has that digest. */
  | {
      readonly kind: 'copy'
      readonly from: string
      readonly sha256: string
      readonly size: number
      readonly path: string
      readonly mode: number
      readonly owner: string
    }
  /**
   * A unit on the host, `drover-guard.service`, takes this lock (`flock`) or the change fails as `activation-locked`. It
   * holds it until the group is confirmed or undone, or the run lets the host go, and for `forS` seconds at the most (U2).
   */
  | { readonly kind: 'hold'; readonly lock: string; readonly forS: number }
  /** Lets go of what `hold` took, where others need the lock before the run lets the host go (M5). */
  | { readonly kind: 'release'; readonly lock: string }
  /**
   * From here to the end of the step the host undoes all of it by itself, unless it is confirmed in time: after
   * `withinMs`, and at a boot that comes before (design.md property 6). Each later change of the step must have an undo
   * or be neutral. `undo` is filled in by the planner.
   */
  | {
      readonly kind: 'arm'
      /** For people: `upgrade to v0.4.0`. */
      readonly what: string
      /** What this run wants to be confirmed, for another run to recognise (U4): a digest. */
      readonly candidate: string
      readonly withinMs: number
      readonly scope: GuardScope
      readonly undo?: readonly Undo[]
    }
  /** A rollback that a dead run armed is disarmed: what it guards is wanted and was seen to be healthy (U4). */
  | { readonly kind: 'confirm'; readonly run: string }
  /** An armed rollback fires now, and is waited for. */
  | { readonly kind: 'fire'; readonly run: string; readonly withinMs: number }
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
