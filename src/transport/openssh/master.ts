import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import type { Environment } from './environment.ts'
import type { Keeper } from './keeper.ts'
import { MasterLog } from './master-log.ts'

// ssh has said all it says by the time it ends; a child of its own may hold the pipe open.
const lastWordsMs = 250
const endGraceMs = 2_000

export interface MasterOptions {
  readonly argv: readonly string[]
  readonly env: Environment
  readonly controlPath: string
  readonly keeper: Pick<Keeper, 'add' | 'drop'>
}

/** One ssh process: a connection, or the attempt at one. */
export class Master {
  readonly controlPath: string
  readonly log = new MasterLog()
  /** Fires when the process is gone and its last words are read. */
  readonly gone: AbortSignal
  readonly #child: ChildProcess
  readonly #gone = new AbortController()
  readonly #onLog: (() => void)[] = []
  /** Why there is no process at all. */
  failure: Error | undefined
  #forced: NodeJS.Timeout | undefined

  constructor({ argv, env, controlPath, keeper }: MasterOptions) {
    this.controlPath = controlPath
    this.gone = this.#gone.signal
    // A session of its own: Ctrl-C in the terminal is for drover alone, and there is no terminal that ssh could ask on.
    const child = spawn('ssh', argv, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    const { pid } = child
    if (pid !== undefined) keeper.add(pid)
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.log.push(text)
      for (const listener of this.#onLog) listener()
    })
    const over = (): void => {
      if (this.gone.aborted) return
      clearTimeout(this.#forced)
      if (pid !== undefined) keeper.drop(pid)
      rmSync(controlPath, { force: true })
      this.#gone.abort()
    }
    child.on('error', (error) => {
      this.failure ??= error
      over()
    })
    child.on('close', over)
    child.on('exit', () => {
      // What it started for itself, such as a ProxyCommand, goes with it.
      this.#signal('SIGKILL')
      setTimeout(() => {
        child.stderr?.destroy()
        over()
      }, lastWordsMs).unref()
    })
  }

  /** Called whenever ssh has said something. */
  onLog(listener: () => void): void {
    this.#onLog.push(listener)
  }

  get hasSocket(): boolean {
    return statSync(this.controlPath, { throwIfNoEntry: false }) !== undefined
  }

  /** Takes leave of the server; by force, or if that takes too long, without. */
  end(isForced = false): void {
    if (this.gone.aborted) return
    this.#signal(isForced ? 'SIGKILL' : 'SIGTERM')
    this.#forced ??= setTimeout(() => this.#signal('SIGKILL'), endGraceMs)
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It is gone already.
    }
  }
}
