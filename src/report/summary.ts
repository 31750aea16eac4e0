import { printable } from '../printable.ts'
import { exitCodeMeanings, isExitCode } from './exit-code.ts'
import type { HostReport } from './host-report.ts'
import { counted, duration, type Paint, type Tone } from './paint.ts'
import type { RunReport } from './run-report.ts'
import { unfinishedHosts } from './unfinished.ts'
import { word } from './word.ts'

const namedHosts = 10

/** How the run went, what the failures have in common, and what to do next. */
export const summaryLines = (report: RunReport, paint: Paint, reports: string | null): readonly string[] => [
  `${counted(report.hosts.length, 'host')}: ${outcomes(report, paint)}${took(report)}`,
  ...exitLine(report),
  ...preflightLines(report, paint),
  ...notRunLines(report),
  ...stalledLine(report),
  ...armedLines(report, paint),
  ...failureGroups(report).flatMap((group) => [
    `${paint('bad', `${counted(group.hosts.length, 'host')}: ${printable(group.code)}`)} – ${printable(group.remedy)}`,
    `  ${hostList(group.hosts, group.hosts.length)}`,
  ]),
  ...nextLine(report, reports),
]

const tones: Readonly<Record<keyof RunReport['totals'], Tone>> = {
  unchanged: 'good',
  changed: 'changed',
  'would-change': 'changed',
  failed: 'bad',
  blocked: 'bad',
  unreachable: 'bad',
  'rolled-back': 'bad',
  skipped: 'skipped',
  cancelled: 'bad',
  unfinished: 'bad',
}

const outcomes = ({ totals }: RunReport, paint: Paint): string =>
  (Object.keys(tones) as (keyof typeof tones)[])
    .filter((outcome) => totals[outcome] > 0)
    .map((outcome) => paint(tones[outcome], `${totals[outcome]} ${outcome}`))
    .join(', ') || 'none'

const took = ({ ms }: RunReport): string => (ms === null ? '' : ` in ${duration(ms)}`)

const exitLine = ({ exitCode, exitReasons }: RunReport): readonly string[] => {
  if (exitCode === null || exitCode === 0) return []
  const others = exitReasons.filter((reason) => reason !== exitCode)
  const meaning = isExitCode(exitCode) ? `: ${exitCodeMeanings[exitCode]}` : ''
  return [`exit code ${exitCode}${meaning}${others.length > 0 ? ` (also ${others.join(', ')})` : ''}`]
}

const preflightLines = ({ preflight }: RunReport, paint: Paint): readonly string[] =>
  (preflight?.checks ?? [])
    .filter((check) => check.errors + check.warnings > 0)
    .map((check) => {
      const counts = `preflight ${printable(check.name)}: ${counted(check.errors, 'error')}, ${counted(check.warnings, 'warning')}`
      const where = check.hostsWithErrors === 0 ? '' : `: ${hostList(check.hosts, check.hostsWithErrors)}`
      return paint(check.errors > 0 ? 'bad' : 'warning', counts) + where
    })

/** Checks that were not made: a good end must not pass for more than was looked at. */
const notRunLines = ({ hosts }: RunReport): readonly string[] => {
  const judged = hosts.filter((host) => host.preflight !== undefined)
  const where = new Map<string, Set<string>>()
  for (const host of judged) {
    for (const { name, message } of host.preflight?.checks ?? []) {
      if (message.startsWith('not-run')) where.set(name, (where.get(name) ?? new Set()).add(host.name))
    }
  }
  const shown = [...where].map(([name, on]) =>
    on.size === judged.length ? printable(name) : `${printable(name)} (${counted(on.size, 'host')})`,
  )
  return shown.length === 0 ? [] : [`preflight not-run: ${shown.join(', ')}`]
}

/** Hosts that came to their end all the same, perhaps: who is slow today hangs tomorrow. */
const stalledLine = ({ hosts }: RunReport): readonly string[] => {
  const all = hosts
    .flatMap(({ name, stalled }) => (stalled === null ? [] : [{ name, ...stalled }]))
    .sort((one, other) => other.silentMs - one.silentMs)
    .map(({ name, where, silentMs }) => `${name} (${duration(silentMs)} in ${where})`)
  return all.length === 0 ? [] : [`stalled meanwhile: ${hostList(all, all.length)}`]
}

/** Hosts that will undo something by themselves (E4): all of them, since each has a time of its own. */
const armedLines = ({ hosts }: RunReport, paint: Paint): readonly string[] =>
  hosts.flatMap(({ name, armed }) =>
    armed === null
      ? []
      : [
          paint(
            'warning',
            `rollback armed: ${printable(name)} undoes the ${printable(armed.what)} by itself at ${printable(armed.firesAt)} unless confirmed`,
          ),
          `  keep: drover confirm -l ${word(name)}; undo at once: drover rollback --now -l ${word(name)}`,
        ],
  )

interface FailureGroup {
  readonly code: string
  /** Of the first host: remedies may name the host, and one line per host would be no summary. */
  readonly remedy: string
  readonly hosts: string[]
}

const failureGroups = ({ hosts }: RunReport): readonly FailureGroup[] => {
  const groups = new Map<string, FailureGroup>()
  for (const host of hosts) {
    const error = failureOf(host)
    if (error === null) continue
    const group = groups.get(error.code) ?? { code: error.code, remedy: error.remedy, hosts: [] }
    groups.set(error.code, group)
    group.hosts.push(host.name)
  }
  return [...groups.values()].sort((a, b) => b.hosts.length - a.hosts.length)
}

const failureOf = (host: HostReport): HostReport['error'] =>
  host.error ?? host.steps.find((step) => step.result === 'failed' || step.result === 'blocked')?.error ?? null

const hostList = (hosts: readonly string[], total: number): string => {
  const named = hosts.slice(0, namedHosts).map(printable)
  return named.join(', ') + (total > named.length ? ` and ${total - named.length} more` : '')
}

const nextLine = (report: RunReport, reports: string | null): readonly string[] => {
  const { mode, totals } = report
  const left = unfinishedHosts(report).length
  if (mode === 'check') {
    if (left > 0) return ['next: put the causes above right and check again']
    return totals['would-change'] > 0
      ? [`next: run again without --check to change ${counted(totals['would-change'], 'host')}`]
      : []
  }
  if (left === 0) return []
  const limit = reports === null ? 'those hosts' : word(`@${reports}/unfinished`)
  return [`next: put the causes above right, then run the same again with -l ${limit}`]
}
