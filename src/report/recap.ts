import { printable } from '../printable.ts'
import type { HostReport, StepReport } from './host-report.ts'
import { banner, type Paint, type Tone } from './paint.ts'
import type { RunReport } from './run-report.ts'

interface RecapCounters {
  readonly ok: number
  readonly changed: number
  readonly unreachable: number
  readonly failed: number
  readonly skipped: number
}

/**
 * Ansible's counters. As there, `ok` includes what changed. People and scripts look for `failed=0` and
 * `unreachable=0`, so every host that is not as wanted has one of the two above zero, whatever its steps say.
 */
const recapCounters = (host: HostReport): RecapCounters => {
  const count = (...results: StepReport['result'][]): number =>
    host.steps.filter((step) => results.includes(step.result)).length
  const changed = count('changed', 'would-change')
  return {
    ok: count('ok') + changed,
    changed,
    unreachable: host.outcome === 'unreachable' ? 1 : 0,
    failed: Math.max(count('failed', 'blocked'), isBad(host.outcome) ? 1 : 0),
    skipped: count('skipped', 'unknown'),
  }
}

const isBad = (outcome: HostReport['outcome']): boolean =>
  outcome === null || ['failed', 'blocked', 'rolled-back', 'cancelled'].includes(outcome)

export const recapLines = (report: RunReport, paint: Paint): readonly string[] => [
  banner('PLAY RECAP'),
  ...report.hosts.map((host) => recapLine(host, paint)),
]

const recapLine = (host: HostReport, paint: Paint): string => {
  const counters = recapCounters(host)
  const bad = counters.failed + counters.unreachable > 0
  const tone = bad ? 'bad' : counters.changed > 0 ? 'changed' : 'good'
  const cells = [
    cell('ok', counters.ok, 'good'),
    cell('changed', counters.changed, 'changed'),
    cell('unreachable', counters.unreachable, 'bad'),
    cell('failed', counters.failed, 'bad'),
    cell('skipped', counters.skipped, 'skipped'),
    cell('rescued', 0, 'plain'),
    cell('ignored', 0, 'plain'),
  ]
  const painted = cells.map(({ text, tone: cellTone }) => paint(cellTone, text))
  return `${paint(tone, printable(host.name).padEnd(26))} : ${painted.join(' ')}`.trimEnd()
}

// A zero is never coloured, so that `failed=0` is found in coloured output too.
const cell = (name: string, count: number, tone: Tone): { text: string; tone: Tone } => ({
  text: `${name}=${String(count).padEnd(4)}`,
  tone: count === 0 ? 'plain' : tone,
})
