import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DroverError } from '../errors.ts'
import { hostFileNames } from './host-report.ts'
import { jsonText } from './json-text.ts'
import type { RunReport } from './run-report.ts'
import { unfinishedHosts } from './unfinished.ts'
import { writeFileAtomically } from './write-file.ts'

/** What run.json says, beside what the process knows of itself. No command line: it may hold secrets. */
export interface RunInfo {
  readonly playbook: { readonly name: string; readonly file: string; readonly sha256: string }
  readonly inventory: readonly { readonly source: string; readonly sha256: string }[]
  readonly mode: 'apply' | 'check'
  readonly operator: string
  readonly reason: string | null
  readonly version: string
}

export interface RunDirectory {
  /** The directory's own name: the id of the run. */
  readonly run: string
  readonly path: string
  /** Where the journal belongs. */
  readonly events: string
}

/**
 * Makes `<root>/<utc-time>-<playbook>-<tag>/` with run.json. The name is the run's id on the hosts as well, where
 * two workstations that start in the same second must not pass for one run: hence the random tag.
 */
export const createRunDirectory = (
  root: string,
  info: RunInfo,
  now: Date,
  tag = randomBytes(3).toString('hex'),
): RunDirectory => {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    const run = makeUnique(
      root,
      `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z-${safe(info.playbook.name)}-${tag}`,
    )
    const path = join(root, run)
    mkdirSync(join(path, 'hosts'), { mode: 0o700 })
    const { version, ...who } = info
    const versions = { drover: version, node: process.version }
    const text = jsonText({
      schemaVersion: 1,
      run,
      started: now.toISOString(),
      ...who,
      versions,
      pid: process.pid,
      workstation: hostname(),
    })
    writeFileSync(join(path, 'run.json'), text, { mode: 0o600, flag: 'wx', flush: true })
    return { run, path, events: join(path, 'events.ndjson') }
  } catch (thrown) {
    throw new DroverError({
      code: 'usage',
      message: `The run directory under ${root} cannot be made.`,
      remedy: 'Run drover in a directory you may write to, with space left on its file system.',
      detail: thrown instanceof Error ? thrown.message : String(thrown),
      cause: thrown,
    })
  }
}

/** Writes hosts/*.json and report.json, last and whole. Tries every file; the first failure is told once. */
export const writeReports = async (
  directory: RunDirectory,
  report: RunReport,
  onError: (error: Error) => void,
): Promise<void> => {
  let failed = false
  const write = (file: string, value: unknown): Promise<void> =>
    writeFileAtomically(join(directory.path, file), typeof value === 'string' ? value : jsonText(value)).catch(
      (error: Error) => {
        if (!failed) onError(error)
        failed = true
      },
    )
  const names = hostFileNames(report.hosts.map((host) => host.name))
  for (const host of report.hosts) {
    const file = names.get(host.name)
    if (file !== undefined)
      await write(join('hosts', file), { schemaVersion: report.schemaVersion, run: report.run, ...host })
  }
  // One name per line, for `--limit @FILE`.
  const unfinished = unfinishedHosts(report)
  if (unfinished.length > 0) await write('unfinished', unfinished.map((name) => `${name}\n`).join(''))
  await write('report.json', report)
}

const makeUnique = (root: string, name: string, attempt = 1): string => {
  const run = attempt === 1 ? name : `${name}-${attempt}`
  try {
    mkdirSync(join(root, run), { mode: 0o700 })
    return run
  } catch (thrown) {
    const taken = thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST'
    if (!taken || attempt === 1000) throw thrown
    return makeUnique(root, name, attempt + 1)
  }
}

const safe = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 60)
