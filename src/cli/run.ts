import { resolve } from 'node:path'
import { openJournal } from '../report/journal.ts'
import { createRunDirectory, writeReports } from '../report/run-directory.ts'
import { createMachines } from '../runner/machines.ts'
import type { Run } from '../runner/run.ts'
import type { Transport } from '../transport/connection.ts'
import { becomeWith } from './become.ts'
import type { BuiltIn } from './built-in.ts'
import { conduct } from './conduct.ts'
import type { WholeContext } from './context.ts'
import { type Interrupts, watchInterrupts } from './interrupts.ts'
import { createLog, type Logger } from './log.ts'
import { createNotices, type Notices } from './notices.ts'
import { operatorOf } from './operator.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createRunEvents } from './run-events.ts'
import type { RunOptions } from './run-options.ts'
import { prepareRun, type RunRequest } from './run-request.ts'
import { openTransport } from './transport.ts'
import { uploadsOf } from './uploads.ts'

/** `drover run`: reads the request, goes through all hosts, and tells of it in every form at once. */
export const run = async (context: WholeContext, asked: string | BuiltIn, options: RunOptions): Promise<number> => {
  const log = createLog(context, options)
  const notices = createNotices()
  const passwords = createPasswords(context, options)
  const transport = openTransport(context, {
    passwords,
    onNotice: notices.take,
    connectTimeout: options.connectTimeout,
    sshConfig: options.sshConfig,
  })
  const tell = (message: string): void => notices.take({ host: null, message })
  try {
    const request = await prepareRun(context, { transport, passwords, tell, log }, asked, options)
    const { playbook, plays, sources } = request
    log.info(
      { playbook: playbook.file, inventory: sources.inventory.sources, hosts: plays.length },
      'the request is in order',
    )
    const interrupts = watchInterrupts(context)
    return await recorded(context, options, { request, transport, passwords, interrupts, notices, log }).finally(
      interrupts.dispose,
    )
  } finally {
    await transport.close()
  }
}

interface Means {
  readonly request: RunRequest
  readonly transport: Transport
  readonly passwords: Passwords
  readonly interrupts: Interrupts
  readonly notices: Notices
  readonly log: Logger
}

/** The run itself between the making of its directory and the last file in it. */
const recorded = async (context: WholeContext, options: RunOptions, means: Means): Promise<number> => {
  const { request, transport, passwords, interrupts, notices, log } = means
  const { name, file, sha256 } = request.playbook
  const mode = options.check ? 'check' : 'apply'
  const operator = operatorOf(context)
  const reason = options.reason ?? null
  const { version, tasks } = context
  const info = {
    playbook: { name, file, sha256 },
    inventory: request.sources.digests,
    mode,
    operator,
    reason,
    version,
  } as const
  const directory = createRunDirectory(resolve(context.cwd, options.runsDir), info, context.now())
  const journal = openJournal(directory.events, (error) =>
    log.error(`the journal ${directory.events} is cut short: ${error.message}`),
  )
  const { sink, fold, onFault } = createRunEvents(context, options, {
    plays: request.plays,
    passwords: passwords.all(),
    journal: journal.take,
    reports: directory.path,
    log,
  })
  const deadlines = {
    inspectMs: 180_000,
    applyGraceMs: 60_000,
    reconnectMs: 120_000,
    backoffMs: 500,
    stallMs: options.stallAfter * 1000,
  }
  const { forks } = options
  const uploads = uploadsOf(context, options)
  const { softStop, hardStop } = interrupts
  const run: Run = {
    id: directory.run,
    operator,
    reason,
    mode,
    forks,
    ...(options.timeout !== undefined && { stepTimeoutS: options.timeout }),
    tasks,
    transport,
    uploads,
    becomeOf: becomeWith(passwords),
    deadlines,
    machines: createMachines(),
    sink,
    onFault,
    softStop,
    hardStop,
  }
  const exitCode = await conduct(run, request, {
    fold,
    notices,
    version,
    detailedExitCode: options.detailedExitcode ?? false,
  }).finally(uploads.close)
  await journal.close()
  const report = fold.report()
  if (report !== undefined)
    await writeReports(directory, report, (error) =>
      log.error(`the reports in ${directory.path} are not whole: ${error.message}`),
    )
  return exitCode
}
