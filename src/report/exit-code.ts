import type { ErrorCode } from '../errors.ts'
import type { Outcome } from '../runner/events.ts'
import { unreachable } from './unreachable.ts'

/** One meaning per code; docs/reports.md shows this table and a test compares the two. */
export const exitCodeMeanings = {
  0: 'Everything is as wanted.',
  1: 'A fault in drover itself.',
  2: 'A host failed or is blocked.',
  4: 'Hosts could not be reached, and nothing worse happened.',
  5: 'The request was wrong: nothing was touched.',
  6: 'The plan has changes (only with --detailed-exitcode).',
  7: 'A host was rolled back.',
  8: 'The rollout was halted by its budget.',
  9: 'Another run holds a host, or the whole run.',
  130: 'The run was interrupted.',
} as const

export type ExitCode = keyof typeof exitCodeMeanings

export const isExitCode = (code: number): code is ExitCode => Object.hasOwn(exitCodeMeanings, code)

/** What one host adds to the exit code. An outcome of null: the host never came to an end. */
export interface HostResult {
  readonly outcome: Outcome | null
  readonly code: string | null
}

export interface RunResult {
  readonly hosts: readonly HostResult[]
  readonly interrupted: boolean
  /** The budget of the rollout stopped it. */
  readonly halted: boolean
  /** A fault outside any host's lane. */
  readonly internal: boolean
  readonly detailedExitCode: boolean
}

const precedence = [1, 130, 8, 7, 2, 9, 4, 6] as const satisfies readonly ExitCode[]

/** Every exit code that applies, the one to exit with first. */
export const exitReasons = (run: RunResult): readonly ExitCode[] => {
  const applying = new Set<ExitCode>(run.hosts.map((host) => hostReason(host, run)))
  if (run.internal) applying.add(1)
  if (run.interrupted) applying.add(130)
  if (run.halted) applying.add(8)
  return precedence.filter((code) => applying.has(code))
}

export const exitCode = (run: RunResult): ExitCode => exitReasons(run)[0] ?? 0

const hostReason = (host: HostResult, run: RunResult): ExitCode => {
  if (is(host, 'internal')) return 1
  switch (host.outcome) {
    case 'unchanged':
    case 'changed':
    case 'skipped':
      return 0
    case 'would-change':
      return run.detailedExitCode ? 6 : 0
    case 'failed':
      return 2
    case 'blocked':
      return is(host, 'locked') ? 9 : 2
    case 'unreachable':
      return 4
    case 'rolled-back':
      return 7
    case 'cancelled':
      return 130
    case null:
      // A run that was stopped leaves hosts without an end; in any other run a lane went missing.
      return run.interrupted || run.halted ? 0 : 1
    default:
      return unreachable(host.outcome)
  }
}

const is = (host: HostResult, code: ErrorCode): boolean => host.code === code
