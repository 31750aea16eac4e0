import type { ErrorReport, RunEvent } from '../runner/events.ts'
import type { HostReport, StepReport } from './host-report.ts'
import { hostPreflight } from './preflight.ts'
import { unreachable } from './unreachable.ts'

type HostEvent = Exclude<RunEvent, { readonly type: 'run-started' | 'notice' | 'run-ended' }>

export interface HostFold {
  take(event: HostEvent): void
  report(): HostReport
}

type ReportedError = NonNullable<HostReport['error']>

export const createHostFold = (name: string): HostFold => {
  const steps = new Map<string, StepReport>()
  const knownAfter = new Map<string, string>()
  const failedChanges = new Map<string, ErrorReport>()
  const host: HostReport = {
    ...notEnded,
    name,
    started: null,
    connected: null,
    changes: 0,
    steps: [],
    findings: [],
    execs: [],
    stalled: null,
    machine: null,
    uploads: [],
    armed: null,
  }

  const take = (event: HostEvent): void => {
    switch (event.type) {
      case 'host-started':
        // A second attempt or a resumed run looks at everything again.
        Object.assign(host, notEnded, {
          started: event.at,
          findings: [],
          stalled: null,
          machine: null,
          uploads: [],
          armed: null,
        })
        steps.clear()
        return
      case 'host-connected':
        host.connected = {
          ms: event.ms,
          server: event.server,
          ...(event.retries !== undefined && { retries: event.retries }),
        }
        return
      case 'exec':
        host.execs.push({ verb: event.verb, ms: event.ms, code: event.code })
        return
      case 'host-planned':
        for (const step of event.steps) {
          if (step.knownAfter === undefined) knownAfter.delete(step.step)
          else knownAfter.set(step.step, step.knownAfter)
        }
        return
      case 'host-recognised':
        host.machine = { machineId: event.machineId, bootId: event.bootId, pid1Start: event.pid1Start }
        return
      case 'host-stalled':
      case 'host-moving':
        if (event.silentMs > (host.stalled?.silentMs ?? 0))
          host.stalled = { where: event.where, silentMs: event.silentMs }
        return
      case 'host-reconnecting':
      case 'host-reconnected':
      case 'change-started':
        return
      case 'change-done':
        host.changes += 1
        return
      case 'change-failed':
        failedChanges.set(event.step, event.error)
        return
      case 'uploaded': {
        const { path, bytes, sent, how, ms } = event
        host.uploads.push({ path, bytes, sent, how, ms })
        return
      }
      case 'rollback-armed':
        host.armed = { what: event.what, firesAt: event.firesAt }
        return
      case 'rollback-disarmed':
        host.armed = null
        return
      case 'finding':
        host.findings.push({ step: event.step, ...event.finding, remedy: event.finding.remedy ?? null })
        return
      case 'step-ended': {
        const bad = event.result === 'failed' || event.result === 'blocked'
        // Keyed by step: one that was good when applied and bad when verified counts once, as bad.
        steps.set(event.step, {
          step: event.step,
          task: event.task,
          result: event.result,
          changes: event.changes.map(({ summary, diff }) => ({ summary, diff: diff ?? null })),
          reason: event.reason ?? null,
          knownAfter: event.result === 'unknown' ? (knownAfter.get(event.step) ?? null) : null,
          error: reportedError(event.error ?? (bad ? failedChanges.get(event.step) : undefined)),
        })
        return
      }
      case 'host-ended':
        Object.assign(host, { outcome: event.outcome, changes: event.changes, ended: event.at, ms: event.ms })
        host.error = reportedError(event.error)
        if (isNotArmedAnyMore(event.error)) host.armed = null
        return
      default:
        unreachable(event)
    }
  }

  return {
    take,
    report: () => {
      const whole = { ...host, steps: [...steps.values()] }
      const preflight = hostPreflight(whole)
      return preflight === undefined ? whole : { ...whole, preflight }
    },
  }
}

/** It fired, or was found to be gone. Any other end of a host leaves what it has armed. */
const isNotArmedAnyMore = (error: ErrorReport | undefined): boolean =>
  error !== undefined && ['rolled-back', 'rollback-superseded', 'rollback-failed'].includes(error.code)

const notEnded = { outcome: null, ended: null, ms: null, error: null }

const reportedError = (error: ErrorReport | undefined): ReportedError | null =>
  error === undefined
    ? null
    : {
        code: error.code,
        message: error.message,
        remedy: error.remedy,
        step: error.step ?? null,
        detail: error.detail ?? null,
      }
