import type { EventSink } from '../runner/events.ts'
import type { Redactor } from './redact.ts'

export interface FanOutOptions {
  /** By name, for the message when one fails. */
  readonly sinks: Readonly<Record<string, EventSink>>
  readonly redact: Redactor
  /** Called once per sink, at its first failure. */
  readonly onError: (sink: string, thrown: unknown) => void
}

/** One sink for the runner: each event is redacted once, then given to all. Whatever a sink throws ends here. */
export const fanOut = ({ sinks, redact, onError }: FanOutOptions): EventSink => {
  const failed = new Set<string>()
  const guarded = (name: string, action: () => void): void => {
    try {
      action()
    } catch (thrown) {
      if (failed.has(name)) return
      failed.add(name)
      report(name, thrown)
    }
  }
  const report = (name: string, thrown: unknown): void => {
    try {
      onError(name, thrown)
    } catch {
      // The lane that sent the event cannot help it, and there is nobody left to tell.
    }
  }
  return (event) =>
    guarded('redaction', () => {
      const redacted = redact(event)
      for (const [name, sink] of Object.entries(sinks)) guarded(name, () => sink(redacted))
    })
}
