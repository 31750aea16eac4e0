import type { ErrorCode } from '../errors.ts'
import type { Finding } from '../tasks/task.ts'

export type Outcome =
  | 'unchanged'
  | 'changed'
  | 'would-change'
  | 'failed'
  | 'blocked'
  | 'unreachable'
  | 'rolled-back'
  | 'skipped'
  | 'cancelled'

/** A finding as it travels. */
export type FindingReport = Omit<Finding, 'lasting'>

export type StepResult = 'ok' | 'changed' | 'would-change' | 'skipped' | 'failed' | 'blocked' | 'unknown'

/** An error as it travels in events: plain data, already redacted, never flattened to a string. */
export interface ErrorReport {
  readonly code: ErrorCode
  readonly message: string
  readonly remedy: string
  readonly step?: string
  readonly detail?: string
}

/** One change as it is shown: a line, and a diff where there is one to see. */
export interface ChangeReport {
  readonly summary: string
  readonly diff?: string
}

export interface PlannedStep {
  readonly step: string
  readonly task: string
  readonly changes: readonly ChangeReport[]
  /** Why nothing can be said about this step before an earlier one has been applied. */
  readonly knownAfter?: string
}

/**
 * Everything that can happen, a closed union. Screen, journal, reports and the exit code are folds of this
 * stream and of nothing else, so they cannot disagree. `at` is ISO 8601, UTC.
 */
export type RunEvent = { readonly at: string } & RunEventBody

export type RunEventBody =
  | {
      readonly type: 'run-started'
      readonly run: string
      readonly playbook: string
      readonly playbookSha256: string
      readonly hosts: readonly string[]
      readonly mode: 'apply' | 'check'
      readonly forks: number
      /** Whether a plan with changes is an exit code of its own. */
      readonly detailedExitCode: boolean
      readonly operator: string
      readonly reason: string | null
      readonly version: string
    }
  /** Something the operator should know that is no failure: a host key learnt, a policy that is off. */
  | { readonly type: 'notice'; readonly host: string | null; readonly message: string }
  | { readonly type: 'host-started'; readonly host: string }
  /** `retries`: how often it was dropped or refused before, where it was. */
  | {
      readonly type: 'host-connected'
      readonly host: string
      readonly ms: number
      readonly server: string
      readonly retries?: number
    }
  /** The connection broke and is made anew; `why` is what went wrong last. */
  | { readonly type: 'host-reconnecting'; readonly host: string; readonly attempt: number; readonly why: string }
  | { readonly type: 'host-reconnected'; readonly host: string; readonly attempt: number; readonly ms: number }
  /** Who the host says it is; again after a reboot. Not told of one that does not say it in the form it has to have. */
  | {
      readonly type: 'host-recognised'
      readonly host: string
      readonly machineId: string
      readonly bootId: string
      readonly pid1Start: string
    }
  /** The host has been waited for this long without a word; told again whenever the silence has doubled. */
  | { readonly type: 'host-stalled'; readonly host: string; readonly where: string; readonly silentMs: number }
  | { readonly type: 'host-moving'; readonly host: string; readonly where: string; readonly silentMs: number }
  /** One remote command. A run without changes has exactly one per host: `inspect`. */
  | {
      readonly type: 'exec'
      readonly host: string
      readonly verb: 'inspect' | 'upload' | 'apply' | 'verify' | 'reboot' | 'confirm' | 'rollback'
      readonly ms: number
      readonly code: number
    }
  | {
      readonly type: 'host-planned'
      readonly host: string
      readonly segment: number
      readonly steps: readonly PlannedStep[]
    }
  | {
      readonly type: 'change-started'
      readonly host: string
      readonly step: string
      readonly summary: string
      /** It only waits, and for this long at the most. */
      readonly waitMs?: number
    }
  | {
      readonly type: 'change-done'
      readonly host: string
      readonly step: string
      readonly summary: string
      readonly diff?: string
    }
  | {
      readonly type: 'change-failed'
      readonly host: string
      readonly step: string
      readonly summary: string
      readonly error: ErrorReport
    }
  /** A file is on the host, beside its place. `sent`: bytes that travelled, as they were on the wire before encryption. */
  | {
      readonly type: 'uploaded'
      readonly host: string
      readonly path: string
      readonly bytes: number
      readonly sent: number
      /** `whole`: from the first byte; `resumed`: from where a cut left it; `delta`: the difference to a file of the host. */
      readonly how: 'whole' | 'resumed' | 'delta'
      readonly ms: number
    }
  /** The host undoes what it is about to do unless it is confirmed by then (E4). */
  | { readonly type: 'rollback-armed'; readonly host: string; readonly what: string; readonly firesAt: string }
  | { readonly type: 'rollback-disarmed'; readonly host: string; readonly what: string }
  | { readonly type: 'finding'; readonly host: string; readonly step: string; readonly finding: FindingReport }
  | {
      readonly type: 'step-ended'
      readonly host: string
      readonly step: string
      readonly task: string
      readonly result: StepResult
      /** Why it was skipped. */
      readonly reason?: string
      /** Summaries of what was done, or would be. */
      readonly changes: readonly ChangeReport[]
      readonly error?: ErrorReport
    }
  | {
      readonly type: 'host-ended'
      readonly host: string
      readonly outcome: Outcome
      /** Changes made, or that would be made in a check. */
      readonly changes: number
      readonly ms: number
      readonly error?: ErrorReport
    }
  | { readonly type: 'run-ended'; readonly exitCode: number; readonly ms: number; readonly interrupted: boolean }

/** Takes events as they happen. Never throws: a report that cannot be written must not stop a lane. */
export type EventSink = (event: RunEvent) => void
