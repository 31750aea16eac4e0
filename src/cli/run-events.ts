import type { HostPlay } from '../playbook/playbook.ts'
import { createConsole } from '../report/console.ts'
import { fanOut } from '../report/fan-out.ts'
import { createJsonOutput } from '../report/json-output.ts'
import { createLiveLine } from '../report/live-line.ts'
import { createRedactor } from '../report/redact.ts'
import { createReportFold, type ReportFold } from '../report/report-fold.ts'
import type { EventSink } from '../runner/events.ts'
import type { Run } from '../runner/run.ts'
import type { Secret } from '../secret.ts'
import { hasColour } from './colour.ts'
import type { CliContext } from './context.ts'
import type { Logger } from './log.ts'
import type { RunOptions } from './run-options.ts'
import { secretsOf } from './secrets.ts'

export interface RunEventsOptions {
  /** Their secrets are kept out of everything. */
  readonly plays: readonly HostPlay[]
  readonly passwords: readonly Secret[]
  readonly journal: EventSink
  /** Where the reports will be. */
  readonly reports: string
  readonly log: Logger
}

/** The one sink of a run, with all that listens to it, and the fold that the reports are made of. */
export const createRunEvents = (
  context: CliContext,
  options: RunOptions,
  { plays, passwords, journal, reports, log }: RunEventsOptions,
): { sink: EventSink; fold: ReportFold; onFault: NonNullable<Run['onFault']> } => {
  const fold = createReportFold()
  const redact = createRedactor(secretsOf({ plays, passwords }, context), (count) =>
    log.warn(`secrets too short to be kept out of reports and logs: ${count}`),
  )
  const sinks = {
    report: fold.take,
    journal,
    ...shown(context, options, reports),
    // On the screen they are the console's business.
    log: ({ type, ...event }) => log.trace(event, type),
  } satisfies Record<string, EventSink>
  const onError = (sink: string, thrown: unknown): void =>
    log.error(`the ${sink} failed at an event and may lack others: ${String(thrown)}`)
  const onFault = (host: string, thrown: unknown): void =>
    log.debug(
      redact({ host, fault: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }),
      'internal fault',
    )
  return { sink: fanOut({ sinks, redact, onError }), fold, onFault }
}

/** Results go to standard output in one form; with JSON there, people may read along on standard error. */
const shown = (
  context: CliContext,
  { output, verbose, diff }: RunOptions,
  reports: string,
): Record<string, EventSink> => {
  const people = (stream: CliContext['stdout']): EventSink => {
    const live = hasLiveLine(context, stream)
      ? createLiveLine({ write: stream.write, columns: () => stream.columns ?? 80 })
      : null
    const write = live?.write ?? stream.write
    const lines = createConsole({ write, colour: hasColour(context, stream), verbose, diff: diff ?? false, reports })
    return (event) => {
      lines(event)
      live?.take(event)
    }
  }
  if (output === 'text') return { console: people(context.stdout) }
  return { json: createJsonOutput(context.stdout.write), ...(verbose > 0 && { console: people(context.stderr) }) }
}

const hasLiveLine = ({ env }: CliContext, stream: CliContext['stdout']): boolean => stream.isTTY && env.TERM !== 'dumb'
