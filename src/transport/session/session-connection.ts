import { setTimeout as sleep } from 'node:timers/promises'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import type { Connection, ExecRequest, ExecResult } from '../connection.ts'
import { endClient } from '../ssh2/end-client.ts'
import type { OpenedClient } from '../ssh2/ssh2-client.ts'
import { openChannel, SessionRefused } from './open-channel.ts'
import { runChannel } from './run-channel.ts'
import type { SessionChannel } from './session-client.ts'
import type { SessionLimit } from './session-limit.ts'

const refusedPauseMs = 20

export interface ConnectionOptions extends OpenedClient {
  readonly host: Host
  readonly channelMs: number
  readonly sessions: SessionLimit
  /** What broke, where it was not the host itself. */
  readonly wayLost?: (() => DroverError | undefined) | undefined
  /** Called once, when the connection is gone. */
  readonly onClose: () => void
}

export class SessionConnection implements Connection {
  readonly host: Host
  readonly serverVersion: string
  readonly #opened: OpenedClient
  readonly #channelMs: number
  readonly #sessions: SessionLimit
  readonly #lost = new AbortController()
  readonly #wayLost: (() => DroverError | undefined) | undefined
  readonly #onClose: () => void
  #trouble: Error | undefined

  constructor({ host, channelMs, sessions, wayLost, onClose, ...opened }: ConnectionOptions) {
    this.host = host
    this.serverVersion = opened.serverVersion
    this.#opened = opened
    this.#channelMs = channelMs
    this.#sessions = sessions
    this.#wayLost = wayLost
    this.#onClose = onClose
    opened.client.on('error', (error) => {
      this.#trouble = error
    })
    if (opened.closed.aborted) this.#end()
    else opened.closed.addEventListener('abort', () => this.#end(), { once: true })
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(timeoutError(request.deadlineMs)), request.deadlineMs)
    const signals = [this.#lost.signal, deadline.signal, request.signal].filter((signal) => signal !== undefined)
    try {
      return await this.#run(request, AbortSignal.any(signals))
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await endClient(this.#opened)
    this.#end()
  }

  #end(): void {
    if (this.#lost.signal.aborted) return
    this.#lost.abort(this.#lostError())
    this.#onClose()
  }

  async #run(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    const { ended } = await this.#openSession(request, signal)
    try {
      return await ended
    } finally {
      this.#sessions.release()
    }
  }

  /** A session within the server's limit; its place is to be released after it. */
  async #openSession(request: ExecRequest, signal: AbortSignal): Promise<{ ended: Promise<ExecResult> }> {
    const run = { ...request, signal, lostError: () => this.#lostError() }
    const attach = (channel: SessionChannel) => ({ ended: runChannel(channel, run) })
    const open = { command: request.command, deadlineMs: this.#channelMs, signal, attach }
    await this.#sessions.acquire(signal)
    for (;;) {
      try {
        return await openChannel(this.#opened.client, open)
      } catch (error) {
        if (!(error instanceof SessionRefused)) {
          this.#sessions.release()
          throw error
        }
        const verdict = this.#sessions.refused()
        if (verdict === 'never') throw error
        if (verdict === 'wait') await this.#sessions.acquire(signal)
        else await sleep(refusedPauseMs)
      }
    }
  }

  #lostError(): DroverError {
    const trouble = this.#wayLost?.() ?? this.#trouble
    const why = trouble === undefined ? 'The host closed it' : printable(trouble.message).replace(/\.$/, '')
    return new DroverError({
      code: 'connection-lost',
      message: `The connection to ${this.host.address} port ${this.host.port} broke: ${why}.`,
      remedy: 'Run again; drover looks at the host anew before it changes anything.',
      cause: trouble,
    })
  }
}

const timeoutError = (deadlineMs: number): DroverError =>
  new DroverError({
    code: 'command-timeout',
    message: `The command did not end within ${deadlineMs} ms.`,
    remedy: 'See on the host what it waits for (`ps`, a dead mount, a lock); it may still be running there.',
  })
