import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './step.ts'

/** What a vitest run says of itself in its own JSON report. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  /** Left out by `skip` or `todo`. There are none in this project; a test that cannot run must fail. */
  readonly skipped: number
}

/** A fresh place for a run's report, so that an old one is never read for a new one. */
export const reportFile = (name: string): string => {
  const file = join(root, 'coverage', `${name}.json`)
  mkdirSync(join(root, 'coverage'), { recursive: true })
  rmSync(file, { force: true })
  return file
}

/** A run that left no report counts as one failure: it ended before it could say anything. */
export const readCounts = (file: string): Counts => {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number | unknown[]>
    const suites = Number(report.numFailedTestSuites ?? 0)
    const failed = Number(report.numFailedTests ?? 0)
    return {
      passed: Number(report.numPassedTests ?? 0),
      // A file that fails while it is loaded has no failed test, and is a failure all the same.
      failed: failed === 0 && suites > 0 ? suites : failed,
      skipped: Number(report.numPendingTests ?? 0) + Number(report.numTodoTests ?? 0),
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

export const sum = (all: readonly Counts[]): Counts => ({
  passed: all.reduce((total, { passed }) => total + passed, 0),
  failed: all.reduce((total, { failed }) => total + failed, 0),
  skipped: all.reduce((total, { skipped }) => total + skipped, 0),
})
