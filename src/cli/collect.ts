import { relative } from 'node:path'
import pLimit from 'p-limit'
import { archiveOf } from '../collect/archive.ts'
import { partsOf } from '../collect/parts.ts'
import type { Host } from '../inventory/host.ts'
import { exitCode } from '../report/exit-code.ts'
import { jsonText } from '../report/json-text.ts'
import { createRedactor } from '../report/redact.ts'
import { outcomeOf } from '../runner/outcome.ts'
import type { Transport } from '../transport/connection.ts'
import { becomeWith } from './become.ts'
import { type BundleDirectory, openBundleDirectory } from './collect-directory.ts'
import { type Collected, type Collecting, collectLane } from './collect-lane.ts'
import { collectLines } from './collect-lines.ts'
import { paintFor } from './colour.ts'
import type { WholeContext } from './context.ts'
import { type HostRequest, withHosts } from './host-request.ts'
import { watchInterrupts } from './interrupts.ts'
import type { LogOptions } from './log.ts'
import { readOnlyRun } from './read-only-run.ts'
import { secretsOf } from './secrets.ts'
import type { ConnectionOptions, InventoryOptions } from './sources.ts'

export interface CollectOptions extends InventoryOptions, ConnectionOptions, LogOptions {
  readonly forks: number
  readonly out?: string
  /** Seconds. */
  readonly since: number
  readonly output: 'text' | 'json'
}

/** `drover collect`: a redacted archive of each host. Writes nothing on the hosts, and here nothing that is not redacted. */
export const collect = (context: WholeContext, options: CollectOptions): Promise<number> =>
  withHosts(
    context,
    options,
    { open: context.createTransport, read: () => undefined, prepare: (transport, hosts) => transport.prepare(hosts) },
    (request) => collectFrom(context, options, request),
  )

const collectFrom = async (
  context: WholeContext,
  options: CollectOptions,
  { log, passwords, way, hosts }: HostRequest<Transport, undefined>,
): Promise<number> => {
  const directory = openDirectory(context, options, hosts)
  const interrupts = watchInterrupts(context)
  const becomeOf = becomeWith(passwords)
  const run = readOnlyRun(context, 'collect', { transport: way, becomeOf, forks: options.forks, ...interrupts })
  const redact = createRedactor(secretsOf({ plays: [], passwords: passwords.all() }, context), (count) =>
    log.warn(`secrets too short to be kept out of bundles: ${count}`),
  )
  const started = performance.now()
  const rows = await gather(hosts, {
    run,
    parts: partsOf(options.since),
    sinceS: options.since,
    version: context.version,
    now: context.now,
    redact,
    store: async (host, { files }, mtime) => {
      const bytes = await archiveOf(directory.nameOf(host), files, mtime)
      return { file: await directory.store(host, bytes), bytes: bytes.length }
    },
  }).finally(interrupts.dispose)
  directory.removeIfEmpty()
  show(context, options, redact(rows), { directory: directory.path, ms: performance.now() - started })
  return exitOf(rows, run.softStop.aborted)
}

const openDirectory = ({ cwd, now }: WholeContext, { out }: CollectOptions, hosts: readonly Host[]): BundleDirectory =>
  openBundleDirectory(
    hosts.map(({ name }) => name),
    { out, cwd, now: now() },
  )

const gather = (hosts: readonly Host[], collecting: Collecting): Promise<Collected[]> => {
  const limit = pLimit(collecting.run.forks)
  return Promise.all(hosts.map((host) => limit(() => collectLane(collecting, host))))
}

const exitOf = (rows: readonly Collected[], interrupted: boolean): number =>
  exitCode({
    hosts: rows.map((row) =>
      'error' in row
        ? { outcome: outcomeOf(row.error.code), code: row.error.code }
        : { outcome: 'unchanged', code: null },
    ),
    interrupted,
    halted: false,
    internal: false,
    detailedExitCode: false,
  })

const show = (
  context: WholeContext,
  { output, verbose }: CollectOptions,
  rows: readonly Collected[],
  { directory, ms }: { readonly directory: string; readonly ms: number },
): void => {
  const { stdout } = context
  if (output === 'json') stdout.write(jsonText({ schemaVersion: 1, directory, bundles: rows.map(jsonRow) }))
  else {
    const told = rows.map((row) => ('file' in row ? { ...row, file: shortest(context, row.file) } : row))
    const lines = collectLines(
      told,
      { directory: shortest(context, directory), ms },
      { paint: paintFor(context, stdout), verbose },
    )
    stdout.write(lines.map((line) => `${line}\n`).join(''))
  }
}

/** As it can be typed in the directory that drover was started in. */
const shortest = ({ cwd }: WholeContext, path: string): string => {
  const below = relative(cwd, path)
  return below === '' || below.startsWith('..') ? path : below
}

/** One shape for every host: `error` is null where there is a bundle, and the rest is null where there is an error. */
const jsonRow = (row: Collected): unknown =>
  'error' in row
    ? { host: row.host, file: null, bytes: null, withoutRoot: null, hidden: null, parts: null, error: row.error }
    : {
        host: row.host,
        file: row.file,
        bytes: row.bytes,
        withoutRoot: !row.isRoot,
        hidden: row.bundle.hidden,
        parts: row.bundle.parts,
        error: null,
      }
