import pLimit from 'p-limit'
import { exitCode } from '../report/exit-code.ts'
import { jsonText } from '../report/json-text.ts'
import { counted, type Tone } from '../report/paint.ts'
import { createRedactor } from '../report/redact.ts'
import { outcomeOf } from '../runner/outcome.ts'
import type { Transport } from '../transport/connection.ts'
import { becomeWith } from './become.ts'
import { paintFor } from './colour.ts'
import type { WholeContext } from './context.ts'
import { type HostRequest, withHosts } from './host-request.ts'
import { watchInterrupts } from './interrupts.ts'
import type { LogOptions } from './log.ts'
import { readOnlyRun } from './read-only-run.ts'
import { secretsOf } from './secrets.ts'
import { type ConnectionOptions, connectionWords, type InventoryOptions } from './sources.ts'
import { statusLane } from './status-lane.ts'
import { cellsOf, columns, isHealthy, type StatusRow } from './status-row.ts'
import { summaryLines } from './status-summary.ts'
import { rowFilter } from './status-where.ts'
import { type Cell, tableLines } from './table.ts'

export interface StatusOptions extends InventoryOptions, ConnectionOptions, LogOptions {
  readonly forks: number
  readonly where?: readonly string[]
  readonly exitCode?: true
  readonly output: 'table' | 'names' | 'json'
}

/** `drover status`: looks at every host once and writes nothing, on the hosts or here. */
export const status = (context: WholeContext, options: StatusOptions): Promise<number> =>
  withHosts(
    context,
    options,
    {
      open: context.createTransport,
      read: () => rowFilter(options.where ?? []),
      prepare: (transport, hosts) => transport.prepare(hosts),
    },
    (request) => lookAt(context, options, request),
  )

const lookAt = async (
  context: WholeContext,
  options: StatusOptions,
  { log, passwords, way, hosts, asked: matches }: HostRequest<Transport, ReturnType<typeof rowFilter>>,
): Promise<number> => {
  log.info({ inventory: options.inventory, hosts: hosts.length }, 'the request is in order')
  const interrupts = watchInterrupts(context)
  const becomeOf = becomeWith(passwords)
  const run = readOnlyRun(context, 'status', { transport: way, becomeOf, forks: options.forks, ...interrupts })
  const limit = pLimit(options.forks)
  const redact = createRedactor(secretsOf({ plays: [], passwords: passwords.all() }, context), () => undefined)
  const rows = await Promise.all(hosts.map((host) => limit(() => statusLane(run, host)))).finally(interrupts.dispose)
  const shown = redact(rows.filter(matches))
  if (shown.length === 0 && options.output !== 'json')
    context.stderr.write(`drover: none of ${counted(rows.length, 'host')} is as --where says\n`)
  else show(context, options, shown)
  return exitOf(rows, { ...options, interrupted: run.softStop.aborted })
}

const exitOf = (
  rows: readonly StatusRow[],
  options: { readonly exitCode?: true; readonly interrupted: boolean },
): number =>
  exitCode({
    hosts: rows.map((row) => {
      if ('error' in row) return { outcome: outcomeOf(row.error.code), code: row.error.code }
      return { outcome: options.exitCode && !isHealthy(row) ? 'failed' : 'unchanged', code: null }
    }),
    interrupted: options.interrupted,
    halted: false,
    internal: false,
    detailedExitCode: false,
  })

const show = (context: WholeContext, options: StatusOptions, rows: readonly StatusRow[]): void => {
  const { stdout } = context
  if (options.output === 'json') stdout.write(jsonText({ schemaVersion: 1, hosts: rows.map(jsonRow) }))
  else if (options.output === 'names') stdout.write(rows.map(({ host }) => `${host}\n`).join(''))
  else {
    const paint = paintFor(context, stdout)
    const width = stdout.isTTY ? (stdout.columns ?? null) : null
    const inventory = options.inventory ?? []
    const header = columns.map((column) => column.toUpperCase())
    const lines = [
      ...tableLines(header, rows.map(tableRow), { paint, width }),
      ...summaryLines(rows, { paint, verbose: options.verbose, inventory, connection: connectionWords(options) }),
    ]
    stdout.write(lines.map((line) => `${line}\n`).join(''))
  }
}

/** One shape for every host: `error` is null where it was read, and what was read is null where there is an error. */
const jsonRow = (row: StatusRow): unknown => {
  const { host, withoutRoot } = row
  return { host, withoutRoot, status: 'status' in row ? row.status : null, error: 'error' in row ? row.error : null }
}

const tableRow = (row: StatusRow): readonly Cell[] => {
  const cells = cellsOf(row)
  const tone: Tone = isHealthy(row) ? 'good' : 'status' in row ? 'changed' : 'bad'
  return columns.map((column): Cell => {
    if (column !== 'verdict') return { text: cells[column] }
    return { text: row.withoutRoot ? `${cells.verdict} (without root)` : cells.verdict, tone }
  })
}
