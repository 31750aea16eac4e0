// The real command, as a process of its own: what a story says of drover is what an operator would have seen.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HostReport } from '../../src/report/host-report.ts'
import type { RunReport } from '../../src/report/run-report.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { writeInventory } from '../lab/inventory.ts'
import type { Lab } from '../lab/lab.ts'

/** DROVER_BIN: another drover than the checkout's, such as one that was packed and installed. */
const command = process.env.DROVER_BIN ?? fileURLToPath(new URL('../../bin/drover.js', import.meta.url))

export interface DroverOptions {
  env?: Readonly<Record<string, string>>
  input?: string
  /** Default: one of all hosts of the lab. */
  inventory?: string
  /** A fault in drover must not hang a story. */
  timeoutMs?: number
}

export interface DroverEnd {
  /** Null: a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Of a run: its directory, `events.ndjson` and, where it came to write one, `report.json`. */
  readonly directory: string | undefined
  readonly events: readonly RunEvent[]
  readonly report: RunReport | undefined
  /** A host of the report; an error that shows the output where there is none. */
  host(name: string): HostReport
}

export interface DroverProcess {
  readonly child: ChildProcess
  /** Where the directory of a run comes to lie. */
  readonly runs: string
  readonly ended: Promise<DroverEnd>
  /** By itself or by a signal. */
  isOver(): boolean
  /** What has been told so far. */
  events(): readonly RunEvent[]
  /** Ctrl-C, and wait until drover says this on standard error: a second one sent too early would be merged with the first. */
  interrupt(answer: string): Promise<void>
  /** Wait until an event is told, or until drover ends without it: that is an error. */
  until<T extends RunEvent['type']>(
    type: T,
    matches?: (event: Extract<RunEvent, { type: T }>) => boolean,
  ): Promise<Extract<RunEvent, { type: T }>>
}

let calls = 0

/** Start `drover ARGS`. Runs and `status` get the lab's inventory, runs a directory of their own for journal and reports. */
export const startDrover = (lab: Lab, args: readonly string[], options: DroverOptions = {}): DroverProcess => {
  calls += 1
  const runs = join(lab.folder, 'runs', String(calls))
  mkdirSync(runs, { recursive: true, mode: 0o700 })
  const child = spawn(process.execPath, [command, ...withDefaults(lab, args, options, runs)], {
    cwd: lab.folder,
    env: {
      PATH: process.env.PATH,
      HOME: lab.folder,
      DROVER_OPERATOR: 'e2e@lab',
      // What this machine's ssh_config says is no matter of a story.
      DROVER_SSH_CONFIG: 'none',
      NO_COLOR: '1',
      ...options.env,
    },
    stdio: 'pipe',
    timeout: options.timeoutMs ?? 170_000,
    killSignal: 'SIGKILL',
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  child.stdin.on('error', () => undefined).end(options.input ?? '')
  const ended = new Promise<DroverEnd>((resolve, reject) =>
    child.on('error', reject).on('close', (code) => resolve(endOf(code, output, runs))),
  )
  const events = (): readonly RunEvent[] => readEvents(directoryIn(runs))
  // A process that a signal ended has no exit code.
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    child,
    runs,
    ended,
    isOver,
    events,
    interrupt: async (answer) => {
      child.kill('SIGINT')
      while (!output.stderr.includes(answer) && !isOver()) await sleep(30)
    },
    until: async (type, matches = () => true) => {
      type Wanted = Extract<RunEvent, { type: typeof type }>
      for (;;) {
        const wasOver = isOver()
        const found = events().find((event): event is Wanted => event.type === type && matches(event as Wanted))
        if (found !== undefined) return found
        if (wasOver) throw new Error(`drover ended without the event ${type}:\n${output.stdout}\n${output.stderr}`)
        await sleep(30)
      }
    },
  }
}

export const drover = (lab: Lab, args: readonly string[], options: DroverOptions = {}): Promise<DroverEnd> =>
  startDrover(lab, args, options).ended

const withDefaults = (
  lab: Lab,
  [verb = '', ...rest]: readonly string[],
  { inventory }: DroverOptions,
  runs: string,
): string[] => {
  // Ordinary runs, all three.
  const isRun = ['run', 'confirm', 'rollback'].includes(verb)
  if (!isRun && verb !== 'status') return [verb, ...rest]
  return [verb, ...rest, '-i', inventory ?? writeInventory(lab), ...(isRun ? ['--runs-dir', runs] : [])]
}

const directoryIn = (runs: string): string | undefined => {
  const [name] = readdirSync(runs)
  return name === undefined ? undefined : join(runs, name)
}

const readEvents = (directory: string | undefined): RunEvent[] => {
  const text = directory === undefined ? '' : (readIfThere(join(directory, 'events.ndjson')) ?? '')
  // What comes after the last newline is still being written.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunEvent)
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const endOf = (
  code: number | null,
  { stdout, stderr }: { stdout: string; stderr: string },
  runs: string,
): DroverEnd => {
  const directory = directoryIn(runs)
  const text = directory === undefined ? undefined : readIfThere(join(directory, 'report.json'))
  const report = text === undefined ? undefined : (JSON.parse(text) as RunReport)
  return {
    code,
    stdout,
    stderr,
    directory,
    events: readEvents(directory),
    report,
    host: (name) => {
      const found = report?.hosts.find((host) => host.name === name)
      if (found === undefined) throw new Error(`no report of ${name}; drover ended with ${code}:\n${stdout}\n${stderr}`)
      return found
    },
  }
}

/** A row of `drover status -o json`. */
export const statusOf = async (
  lab: Lab,
  name: string,
): Promise<{ verdict: string; fix: string | null; explanation: string; findings: readonly { check: string }[] }> => {
  const { stdout, stderr } = await drover(lab, ['status', '-l', name, '-o', 'json'])
  if (stdout === '') throw new Error(`drover status said nothing: ${stderr}`)
  const { hosts } = JSON.parse(stdout) as {
    hosts: {
      status: { verdict: string; fix: string | null; explanation: string; findings: { check: string }[] } | null
      error: unknown
    }[]
  }
  const [row] = hosts
  if (row?.status == null) throw new Error(`no status of ${name}: ${stdout}`)
  return row.status
}

/** What was done, or would be, in order. */
export const changesOf = (host: HostReport): string[] =>
  host.steps.flatMap((step) => step.changes.map(({ summary }) => summary))

/** The remote commands of a host in order. */
export const execsOf = (end: DroverEnd, host: string): string[] =>
  end.events.flatMap((event) => (event.type === 'exec' && event.host === host ? [event.verb] : []))
