import type { Finding } from '../task.ts'

/** The names of an ignore list as the agent reads them: trimmed, in lower case, several lists joined (domain.md 4.3). */
export const ignoreList = (given: string | readonly string[]): ReadonlySet<string> =>
  new Set(
    [given]
      .flat()
      .flatMap((part) => part.split(','))
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  )

/** A listed error becomes a warning marked as ignored; warnings and what is fine stay as they are. */
export const withIgnored = (findings: readonly Finding[], ignored: ReadonlySet<string>): readonly Finding[] =>
  findings.map((finding) =>
    finding.severity === 'error' && (ignored.has('all') || ignored.has(finding.check.toLowerCase()))
      ? { ...finding, severity: 'warning', ignored: true }
      : finding,
  )

export interface Summary {
  readonly ok: number
  readonly warnings: number
  readonly errors: number
}

export const summaryOf = (findings: readonly Finding[]): Summary => {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length
  return { ok: count('ok'), warnings: count('warning'), errors: count('error') }
}

/** What makes the whole fail: errors, and with `failOnWarnings` warnings, ignored errors included. */
export const failures = (findings: readonly Finding[], failOnWarnings: boolean): readonly Finding[] => {
  const errors = findings.filter(({ severity }) => severity === 'error')
  return errors.length > 0 || !failOnWarnings ? errors : findings.filter(({ severity }) => severity === 'warning')
}
