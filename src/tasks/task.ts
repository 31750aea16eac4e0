import type { ZodType } from 'zod'
import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import type { Fact } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import type { Host } from '../inventory/host.ts'
import type { Releases } from '../release/release.ts'

export type Severity = 'ok' | 'warning' | 'error'

/** What a check found. Never a change. */
export interface Finding {
  /** Stable id, the value that ignore lists name. */
  readonly check: string
  readonly target: string
  readonly severity: Severity
  readonly message: string
  /** An error that an ignore list turned into a warning. */
  readonly ignored: boolean
  /** What would put it right; absent where nothing is wrong. */
  readonly remedy?: string
  /** Told at the end of the run although later looks do not ask again: it was true before the changes, and matters after them. */
  readonly lasting?: true
}

/**
 * What a step wants on one host. `planned` with no changes: it is as wanted. `blocked`: this host cannot be
 * brought there, and nothing more is done to it. `failed`: a check came out bad.
 */
export type Planned =
  | {
      readonly status: 'planned'
      readonly changes: readonly Change[]
      readonly findings?: readonly Finding[]
      /**
       * The changes only put the host back, whole as it was: once they are made the step has failed with this. They are
       * planned at the next look, and so also right after a change of this step that failed.
       */
      readonly fails?: ErrorDetails
    }
  | { readonly status: 'blocked' | 'failed'; readonly error: ErrorDetails; readonly findings?: readonly Finding[] }

/**
 * A wanted state. It has no way to act: `facts` says what must be known, `plan` is a pure function from what
 * is known to the changes that are missing. Adding one is one file, one test and one line in the registry.
 */
export interface Task<P = unknown> {
  /** The wanted state, not the action: `worker-running`. */
  readonly name: string
  /** One sentence for `drover tasks` and docs/tasks.md. */
  readonly summary: string
  readonly params: ZodType<P>
  /** It only looks: it has findings and never a change, so nothing has to be held on the host for its sake. */
  readonly isCheck?: true
  /** A change of it that fails is followed by a look, in case that its plan then puts the host back (`putBack`). */
  readonly putsBack?: true
  /** A playbook that works with this task, shown in the docs and read by a test. */
  readonly example: string
  /** Fetches and checks what the parameters name outside of the host, before any host is touched. Throws `release-*`. */
  prepare?(params: P, releases: Releases): Promise<P>
  facts(params: P, host: Host): readonly Fact[]
  plan(view: HostView, params: P, host: Host): Planned
}

export const satisfied = (findings?: readonly Finding[]): Planned => planned([], findings)

export const planned = (changes: readonly Change[], findings?: readonly Finding[]): Planned => ({
  status: 'planned',
  changes,
  ...(findings !== undefined && findings.length > 0 && { findings }),
})

/** The host is put back, and the step has failed. */
export const putBack = (changes: readonly Change[], fails: ErrorDetails): Planned => ({
  status: 'planned',
  changes,
  fails,
})

export const blocked = (error: ErrorDetails, findings?: readonly Finding[]): Planned => ({
  status: 'blocked',
  error,
  ...(findings !== undefined && findings.length > 0 && { findings }),
})
