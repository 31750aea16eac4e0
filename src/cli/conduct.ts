import { exitCode } from '../report/exit-code.ts'
import type { ReportFold } from '../report/report-fold.ts'
import { runFleet } from '../runner/fleet.ts'
import { emit, type Run } from '../runner/run.ts'
import type { Notices } from './notices.ts'
import type { RunRequest } from './run-request.ts'

export interface Conducting {
  /** Takes the events of the run. */
  readonly fold: ReportFold
  readonly notices: Notices
  readonly version: string
  readonly detailedExitCode: boolean
}

/** The run from its first event to its last, and the exit code that both it and the process end with. */
export const conduct = async (
  run: Run,
  { playbook, plays }: RunRequest,
  { fold, notices, version, detailedExitCode }: Conducting,
): Promise<number> => {
  const started = performance.now()
  const { id, mode, forks, operator, reason } = run
  const hosts = plays.map(({ host }) => host.name)
  emit(run, {
    type: 'run-started',
    run: id,
    playbook: playbook.name,
    playbookSha256: playbook.sha256,
    hosts,
    mode,
    forks,
    detailedExitCode,
    operator,
    reason,
    version,
  })
  notices.listen((notice) => emit(run, { type: 'notice', ...notice }))
  const end = (internal: boolean): number => {
    const results = (fold.report()?.hosts ?? []).map(({ outcome, error }) => ({ outcome, code: error?.code ?? null }))
    const interrupted = run.softStop.aborted
    const code = exitCode({ hosts: results, interrupted, halted: false, internal, detailedExitCode })
    emit(run, { type: 'run-ended', exitCode: code, ms: Math.round(performance.now() - started), interrupted })
    return code
  }
  try {
    await runFleet(run, plays)
  } catch (thrown) {
    // Lanes never throw, so this is a fault of drover's own; the record of the run shall have an end all the same.
    end(true)
    throw thrown
  }
  return end(false)
}
