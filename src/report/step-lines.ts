import { printable, printableLines } from '../printable.ts'
import type { Finding } from '../tasks/task.ts'
import type { HostReport, StepReport } from './host-report.ts'
import type { Look, Tone } from './paint.ts'

const detailLines = 20
const namedChanges = 10

const words: Readonly<Record<StepReport['result'], readonly [word: string, tone: Tone]>> = {
  ok: ['ok', 'good'],
  changed: ['changed', 'changed'],
  'would-change': ['would change', 'changed'],
  skipped: ['skipping', 'skipped'],
  failed: ['failed', 'bad'],
  blocked: ['blocked', 'bad'],
  unknown: ['unknown', 'skipped'],
}

/** One step's result: a line, and below it what the verbosity asks for. */
export const stepLines = (host: string, step: StepReport, mode: 'apply' | 'check', look: Look): readonly string[] => {
  const [word, tone] = words[step.result]
  const head = `${word}: [${printable(host)}] ${printable(step.step)}`
  const diffs = look.diff ? step.changes.flatMap((change) => diffLines(change.diff, look)) : []
  if (step.error !== null && tone === 'bad') {
    // A start that was made stays made, whatever failed after it.
    const made = step.changes.length > 0 ? [`  made before that: ${listOf(step.changes)}`] : []
    return [...errorLines(head, step.error, look), ...made, ...diffs]
  }
  // Applied changes were listed as they happened.
  const listed =
    look.verbose > 0 && mode === 'check' ? step.changes.map((change) => `  ${printable(change.summary)}`) : []
  return [look.paint(tone, head + why(step)), ...listed, ...diffs]
}

const why = (step: StepReport): string => {
  const reason = step.knownAfter ?? step.reason ?? step.error?.message
  if (reason !== undefined) return ` (${printable(reason)})`
  if (step.changes.length === 0) return ''
  return `: ${listOf(step.changes)}`
}

/** What only waits is told of as it happens. Nothing that acts is left out before there are very many of it. */
const listOf = (changes: StepReport['changes']): string => {
  const acting = changes.filter(({ summary }) => !summary.startsWith('wait until '))
  const named = (acting.length > 0 ? acting : changes).slice(0, namedChanges)
  const more = changes.length - named.length
  return `${named.map(({ summary }) => printable(summary)).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** What is wrong, its code, what to do, and the host's own words, shortened only here. */
export const errorLines = (head: string, error: NonNullable<HostReport['error']>, look: Look): readonly string[] => {
  const [message = '', ...rest] = printableLines(error.message)
  const detail = error.detail === null || error.detail === '' ? [] : printableLines(error.detail)
  const shown = look.verbose > 0 ? detail : detail.slice(-detailLines)
  const hidden = detail.length - shown.length
  return [
    look.paint('bad', `${head}: ${message} [${printable(error.code)}]`),
    ...rest.map((line) => `    ${line}`),
    `  fix: ${printable(error.remedy)}`,
    ...(hidden > 0 ? [`    … ${hidden} lines before these are in the report`] : []),
    ...shown.map((line) => `    ${line}`),
  ]
}

/** Warnings and errors of checks; good ones only when asked for. */
export const findingLines = (host: string, finding: Finding, look: Look): readonly string[] => {
  const target = finding.target === finding.check ? '' : ` (${printable(finding.target)})`
  const text = `[${printable(host)}] ${printable(finding.check)}: ${printable(finding.message)}${target}`
  if (finding.severity === 'ok') return look.verbose > 0 ? [look.paint('good', `check ok: ${text}`)] : []
  const tone = finding.severity === 'error' ? 'bad' : 'warning'
  const ignored = finding.ignored ? ', an ignored error' : ''
  const fix = finding.remedy === undefined ? [] : [`  fix: ${printable(finding.remedy)}`]
  return [look.paint(tone, `${finding.severity}: ${text}${ignored}`), ...fix]
}

const diffLines = (diff: string | null, look: Look): readonly string[] =>
  diff === null || diff === '' ? [] : printableLines(diff).map((line) => `    ${look.paint(diffTone(line), line)}`)

const diffTone = (line: string): Tone => {
  if (line.startsWith('+')) return 'good'
  if (line.startsWith('-')) return 'bad'
  return line.startsWith('@@') ? 'skipped' : 'plain'
}
