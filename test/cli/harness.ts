import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cli } from '../../src/cli/cli.ts'
import type { CliContext } from '../../src/cli/context.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import { tasks as allTasks } from '../../src/tasks/registry.ts'
import { createSsh2Transport } from '../../src/transport/ssh2/ssh2-transport.ts'
import type { FakeConnection } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'

export interface World {
  /** Files of the working directory, by their path in it. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Hosts by name; one that is not here must not be connected to. */
  readonly hosts?: Readonly<Record<string, FakeConnection | Error | Promise<FakeConnection | Error>>>
  readonly env?: CliContext['env']
  readonly tasks?: Tasks
  readonly isTTY?: boolean
  readonly fetch?: CliContext['fetch']
  /** What is answered to each question, in turn; absent: nobody is there. */
  readonly answers?: readonly string[]
  readonly columns?: number
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly connects: readonly string[]
  readonly questions: readonly string[]
  /** What stood above each of them. */
  readonly above: readonly (readonly string[])[]
  /** Codes given to `exitNow`. */
  readonly exits: readonly number[]
  readonly cwd: string
}

export interface Running {
  readonly ended: Promise<Ran>
  interrupt(): void
  stderr(): string
}

export const playbooksDir = fileURLToPath(new URL('../../playbooks', import.meta.url))

/** Runs drover in process, in a directory of its own, with hosts that are fake and keys that are not. */
export const start = (argv: readonly string[], world: World = {}): Running => {
  const cwd = mkdtempSync(join(tmpdir(), 'drover-cli-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(world.files ?? {})) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), content)
  }
  const transport = createFakeTransport({ ...world.hosts })
  const written = { stdout: '', stderr: '' }
  const exits: number[] = []
  const questions: string[] = []
  const aboves: (readonly string[])[] = []
  const listeners = new Set<() => void>()
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text
    },
    isTTY: world.isTTY ?? false,
    columns: world.columns,
  })
  const ended = cli({
    argv,
    // What this machine's ssh_config says is no matter of a test.
    env: { DROVER_SSH_CONFIG: 'none', ...world.env },
    cwd,
    home: cwd,
    accountHome: cwd,
    user: 'alice',
    workstation: 'desk',
    stdout: output('stdout'),
    stderr: output('stderr'),
    ask: async ({ text, above = [] }) => {
      if (world.answers === undefined) return null
      questions.push(text)
      aboves.push(above)
      const answer = world.answers[questions.length - 1]
      if (answer === undefined) throw new Error(`nobody answers ${text}`)
      return answer
    },
    onInterrupt: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    exitNow: (code) => exits.push(code),
    now: () => new Date('2026-01-02T03:04:05Z'),
    fetch:
      world.fetch ??
      (() => {
        throw new Error('nothing is to be downloaded')
      }),
    version: '1.2.3',
    playbooksDir,
    hasTerminal: () => world.answers !== undefined,
    load: async () => ({
      tasks: world.tasks ?? allTasks,
      createScanner: (options) => createSsh2Transport(options),
      createTransport: (options) => ({
        ...createSsh2Transport(options),
        connect: transport.connect,
        close: transport.close,
      }),
    }),
  }).then((code): Ran => ({ code, ...written, connects: transport.connects, questions, above: aboves, exits, cwd }))
  return {
    ended,
    interrupt: () => {
      for (const listener of listeners) listener()
    },
    stderr: () => written.stderr,
  }
}

export const drover = (argv: readonly string[], world?: World): Promise<Ran> => start(argv, world).ended

export const runsOf = ({ cwd }: Ran): readonly string[] =>
  readdirSync(join(cwd, '.drover/runs')).map((name) => join(cwd, '.drover/runs', name))

export const readJson = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'))
