import type { EventSink, RunEvent } from '../runner/events.ts'
import { exitReasons } from './exit-code.ts'
import { createHostFold, type HostFold } from './host-fold.ts'
import { type HostReport, outcomeSchema } from './host-report.ts'
import { fleetPreflight } from './preflight.ts'
import type { RunReport } from './run-report.ts'
import { unreachable } from './unreachable.ts'

export interface ReportFold {
  readonly take: EventSink
  /** The report of what was taken so far; undefined before `run-started`. */
  report(): RunReport | undefined
  host(name: string): HostReport | undefined
}

type Started = Extract<RunEvent, { readonly type: 'run-started' }>
type Ended = Extract<RunEvent, { readonly type: 'run-ended' }>

/** The one fold behind report.json, the host files, the recap and `--output json`: they say the same because they are the same. */
export const createReportFold = (): ReportFold => {
  const lanes = new Map<string, HostFold>()
  const notices: RunReport['notices'] = []
  let started: Started | undefined
  let ended: Ended | undefined

  const lane = (host: string): HostFold => {
    const known = lanes.get(host) ?? createHostFold(host)
    lanes.set(host, known)
    return known
  }

  const take: EventSink = (event) => {
    switch (event.type) {
      case 'run-started':
        started = event
        ended = undefined
        event.hosts.forEach(lane)
        return
      case 'notice':
        notices.push({ at: event.at, host: event.host, message: event.message })
        return
      case 'host-started':
      case 'host-connected':
      case 'host-reconnecting':
      case 'host-reconnected':
      case 'host-stalled':
      case 'host-moving':
      case 'host-recognised':
      case 'exec':
      case 'host-planned':
      case 'change-started':
      case 'change-done':
      case 'change-failed':
      case 'finding':
      case 'uploaded':
      case 'rollback-armed':
      case 'rollback-disarmed':
      case 'step-ended':
      case 'host-ended':
        lane(event.host).take(event)
        return
      case 'run-ended':
        ended = event
        return
      default:
        unreachable(event)
    }
  }

  return {
    take,
    host: (name) => lanes.get(name)?.report(),
    report: () =>
      started &&
      runReport(
        started,
        ended,
        notices,
        [...lanes.values()].map((each) => each.report()),
      ),
  }
}

const runReport = (
  started: Started,
  ended: Ended | undefined,
  notices: RunReport['notices'],
  hosts: HostReport[],
): RunReport => {
  const preflight = fleetPreflight(hosts)
  return {
    schemaVersion: 1,
    drover: started.version,
    run: started.run,
    playbook: started.playbook,
    playbookSha256: started.playbookSha256,
    operator: started.operator,
    reason: started.reason,
    mode: started.mode,
    forks: started.forks,
    started: started.at,
    ended: ended?.at ?? null,
    ms: ended?.ms ?? null,
    interrupted: ended?.interrupted ?? true,
    exitCode: ended?.exitCode ?? null,
    exitReasons: [...reasons(hosts, started, ended)],
    totals: totals(hosts),
    notices: [...notices],
    hosts,
    ...(preflight !== undefined && { preflight }),
  }
}

// The stream tells of a halt and of a fault outside the lanes by the exit code alone.
const reasons = (hosts: readonly HostReport[], started: Started, ended: Ended | undefined): readonly number[] =>
  exitReasons({
    hosts: hosts.map(({ outcome, error }) => ({ outcome, code: error?.code ?? null })),
    interrupted: ended === undefined || ended.interrupted || ended.exitCode === 130,
    halted: ended?.exitCode === 8,
    internal: ended?.exitCode === 1,
    detailedExitCode: started.detailedExitCode,
  })

const totals = (hosts: readonly HostReport[]): RunReport['totals'] => {
  const counted = (outcome: HostReport['outcome']): number => hosts.filter((host) => host.outcome === outcome).length
  const pairs = outcomeSchema.options.map((outcome) => [outcome, counted(outcome)] as const)
  return { ...(Object.fromEntries(pairs) as RunReport['totals']), unfinished: counted(null) }
}
