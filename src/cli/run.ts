import { createConsole } from '../report/console.ts'
import { exitCode } from '../report/exit-code.ts'
import { fanOut } from '../report/fan-out.ts'
import { openJournal } from '../report/journal.ts'
import { createJsonOutput } from '../report/json-output.ts'
import { createRedactor } from '../report/redact.ts'
import { createReportFold } from '../report/report-fold.ts'
import { createRunDirectory, writeReports } from '../report/run-directory.ts'
import type { EventSink } from '../runner/events.ts'
import { runFleet } from '../runner/fleet.ts'
import { emit, type Run } from '../runner/run.ts'
import { resolve } from 'node:path'
import { hasColour } from './colour.ts'
import type { CliContext } from './context.ts'
import { watchInterrupts } from './interrupts.ts'
import { createLog, type Logger } from './log.ts'
import { createNotices, type Notices } from './notices.ts'
import { operatorOf } from './operator.ts'
import type { RunOptions } from './run-options.ts'
import { prepareRun, type RunRequest } from './run-request.ts'
import { secretsOf } from './secrets.ts'
import { openTransport } from './transport.ts'
import type { Transport } from '../transport/connection.ts'

/** `drover run`: reads the request, goes through all hosts, and tells of it in every form at once. */
export const run = async (context: CliContext, name: string, options: RunOptions): Promise<number> => {
  const log = createLog(context, options)
  const notices = createNotices()
  const transport = openTransport(context, notices.take)
  try {
    const request = await prepareRun(context, transport, name, options)
    return await conduct(context, options, { request, transport, notices, log })
  } finally {
    await transport.close()
  }
}

interface Means {
  readonly request: RunRequest
  readonly transport: Transport
  readonly notices: Notices
  readonly log: Logger
}

const conduct = async (context: CliContext, options: RunOptions, { request, transport, notices, log }: Means): Promise<number> => {
  const { playbook, plays, sources } = request
  const mode = options.check ? 'check' : 'apply'
  const who = { operator: operatorOf(context), reason: options.reason ?? null, version: context.version }
  const { name, file, sha256 } = playbook
  const info = { playbook: { name, file, sha256 }, inventory: sources.digests, mode, ...who } as const
  const directory = createRunDirectory(resolve(context.cwd, options.runsDir), info, context.now())
  const journal = openJournal(directory.events, (error) => log.error(`the journal ${directory.events} is cut short: ${error.message}`))
  const fold = createReportFold()
  const sink = fanOut({
    sinks: {
      report: fold.take,
      journal: journal.take,
      ...shown(context, options, directory.path),
      log: ({ type, ...event }) => log.debug(event, type),
    },
    redact: createRedactor(secretsOf(plays, context), (count) => log.warn(`${count} secrets are too short to be kept out of reports and logs`)),
    onError: (sinkName, thrown) => log.error(`the ${sinkName} failed and says no more: ${String(thrown)}`),
  })
  const interrupts = watchInterrupts(context)
  const { softStop, hardStop } = interrupts
  const run: Run = {
    id: directory.run,
    ...who,
    mode,
    forks: options.forks,
    tasks: context.tasks,
    transport,
    deadlines: { inspectMs: 180_000, applyGraceMs: 60_000 },
    sink,
    softStop,
    hardStop,
  }
  const started = performance.now()
  const hosts = plays.map(({ host }) => host.name)
  emit(run, { type: 'run-started', run: run.id, playbook: name, playbookSha256: sha256, hosts, mode, forks: run.forks, ...who })
  notices.listen((notice) => emit(run, { type: 'notice', ...notice }))
  const fault = await runFleet(run, plays).then(
    () => null,
    (thrown: unknown) => ({ thrown }),
  )
  interrupts.dispose()
  const interrupted = softStop.aborted
  const code = exitCode({
    hosts: (fold.report()?.hosts ?? []).map(({ outcome, error }) => ({ outcome, code: error?.code ?? null })),
    interrupted,
    halted: false,
    internal: fault !== null,
    detailedExitCode: options.detailedExitcode ?? false,
  })
  emit(run, { type: 'run-ended', exitCode: code, ms: Math.round(performance.now() - started), interrupted })
  await journal.close()
  const report = fold.report()
  if (report !== undefined) await writeReports(directory, report, (error) => log.error(`the reports in ${directory.path} are not whole: ${error.message}`))
  if (fault !== null) throw fault.thrown
  return code
}

/** Results go to standard output in one form; with JSON there, people may read along on standard error. */
const shown = (context: CliContext, { output, verbose, diff }: RunOptions, reports: string): Record<string, EventSink> => {
  const people = (stream: CliContext['stdout']): EventSink =>
    createConsole({ write: stream.write, colour: hasColour(context, stream), verbose, diff: diff ?? false, reports })
  if (output === 'text') return { console: people(context.stdout) }
  return { json: createJsonOutput(context.stdout.write), ...(verbose > 0 && { console: people(context.stderr) }) }
}
