import { printable } from '../printable.ts'
import type { EventSink, RunEvent } from '../runner/events.ts'
import { hostEndLines } from './host-lines.ts'
import { banner, counted, createPaint, duration, type Look } from './paint.ts'
import { recapLines } from './recap.ts'
import { createReportFold, type ReportFold } from './report-fold.ts'
import { findingLines, stepLines } from './step-lines.ts'
import { summaryLines } from './summary.ts'
import { unreachable } from './unreachable.ts'

export interface ConsoleOptions {
  /** Takes whole lines, the last newline included. */
  readonly write: (text: string) => void
  /** The caller has looked at NO_COLOR, FORCE_COLOR and the terminal. */
  readonly colour: boolean
  /** How often -v was given. */
  readonly verbose: number
  /** -D: show diffs. */
  readonly diff: boolean
  /** Where the reports will be; null if none are written. */
  readonly reports: string | null
}

/** A silence longer than this looks like a hang, so a wait that may last longer is told of. */
const noticeableMs = 5_000

/** Lines for people; one write per event, so that no two events' lines mix. */
export const createConsole = ({ write, colour, verbose, diff, reports }: ConsoleOptions): EventSink => {
  const look: Look = { paint: createPaint(colour), verbose, diff }
  const fold = createReportFold()
  let mode: 'apply' | 'check' = 'apply'
  return (event) => {
    fold.take(event)
    if (event.type === 'run-started') mode = event.mode
    const lines = [...eventLines(event, { fold, look, mode, reports })]
    if (event.type === 'run-ended' && reports !== null) lines.push(`reports: ${printable(reports)}`)
    if (lines.length > 0) write(lines.map((line) => `${line}\n`).join(''))
  }
}

interface Scene {
  readonly fold: ReportFold
  readonly look: Look
  readonly mode: 'apply' | 'check'
  readonly reports: string | null
}

const eventLines = (event: RunEvent, { fold, look, mode, reports }: Scene): readonly string[] => {
  const verbose = (text: string): readonly string[] => (look.verbose > 0 ? [text] : [])
  switch (event.type) {
    case 'run-started':
      return [
        banner(`PLAY [${printable(event.playbook)}]${event.mode === 'check' ? ' [CHECK MODE]' : ''}`),
        ...verbose(
          `run ${printable(event.run)} by ${printable(event.operator)}: ${counted(event.hosts.length, 'host')}, ${counted(event.forks, 'fork')}${event.reason === null ? '' : `, ${printable(event.reason)}`}`,
        ),
      ]
    case 'notice':
      return [
        look.paint(
          'warning',
          `notice: ${event.host === null ? '' : `[${printable(event.host)}] `}${printable(event.message)}`,
        ),
      ]
    case 'host-started':
      return verbose(`started: [${printable(event.host)}]`)
    case 'host-connected':
      return verbose(
        `connected: [${printable(event.host)}] in ${duration(event.ms)}, ${printable(event.server)}` +
          (event.retries === undefined ? '' : `, retries: ${event.retries}`),
      )
    case 'host-reconnecting':
      return event.attempt > 1
        ? verbose(`reconnecting: [${printable(event.host)}] attempt ${event.attempt}: ${printable(event.why)}`)
        : [look.paint('warning', `reconnecting: [${printable(event.host)}] ${printable(event.why)}`)]
    case 'host-reconnected':
      return [`reconnected: [${printable(event.host)}] after ${duration(event.ms)}`]
    case 'host-recognised':
      return []
    case 'host-stalled':
      return [
        look.paint(
          'warning',
          `stalled: [${printable(event.host)}] silent for ${duration(event.silentMs)} in ${printable(event.where)}`,
        ),
      ]
    case 'host-moving':
      return [`moving: [${printable(event.host)}] after ${duration(event.silentMs)} in ${printable(event.where)}`]
    case 'exec':
      return verbose(`exec: [${printable(event.host)}] ${event.verb} in ${duration(event.ms)}, exit ${event.code}`)
    case 'host-planned':
      return verbose(
        `planned: [${printable(event.host)}] ${counted(event.steps.flatMap((step) => step.changes).length, 'change')}`,
      )
    case 'change-started':
      if (event.waitMs !== undefined && event.waitMs >= noticeableMs) {
        return [
          `waiting: [${printable(event.host)}] ${printable(event.step)}: ${printable(event.summary)} (at most ${duration(event.waitMs)})`,
        ]
      }
      return look.verbose > 1
        ? [`doing: [${printable(event.host)}] ${printable(event.step)}: ${printable(event.summary)}`]
        : []
    case 'change-done':
      return verbose(`done: [${printable(event.host)}] ${printable(event.step)}: ${printable(event.summary)}`)
    case 'change-failed':
      return verbose(`not done: [${printable(event.host)}] ${printable(event.step)}: ${printable(event.summary)}`)
    case 'uploaded':
      return verbose(
        `uploaded: [${printable(event.host)}] ${printable(event.path)}, ${event.bytes} bytes, ${event.sent} sent (${event.how}) in ${duration(event.ms)}`,
      )
    case 'rollback-armed':
      return [
        look.paint(
          'warning',
          `armed: [${printable(event.host)}] ${printable(event.what)}: undone by the host itself at ${event.firesAt} unless confirmed`,
        ),
      ]
    case 'rollback-disarmed':
      return verbose(`confirmed: [${printable(event.host)}] ${printable(event.what)}`)
    case 'finding':
      return findingLines(event.host, event.finding, look)
    case 'step-ended': {
      const step = fold.host(event.host)?.steps.find(({ step: name }) => name === event.step)
      return step === undefined ? [] : stepLines(event.host, step, mode, look)
    }
    case 'host-ended': {
      const host = fold.host(event.host)
      return host === undefined ? [] : hostEndLines(host, look)
    }
    case 'run-ended': {
      const report = fold.report()
      return report === undefined
        ? []
        : ['', ...recapLines(report, look.paint), '', ...summaryLines(report, look.paint, reports)]
    }
    default:
      return unreachable(event)
  }
}
