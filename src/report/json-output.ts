import type { EventSink } from '../runner/events.ts'
import { jsonText } from './json-text.ts'
import { createReportFold } from './report-fold.ts'

/** `--output json`: report.json itself, once, when the run has ended. */
export const createJsonOutput = (write: (text: string) => void): EventSink => {
  const fold = createReportFold()
  return (event) => {
    fold.take(event)
    if (event.type === 'run-ended') write(jsonText(fold.report() ?? null))
  }
}
