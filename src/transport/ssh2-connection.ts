import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientChannel } from 'ssh2'
import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import type { Connection, ExecRequest, ExecResult } from './connection.ts'
import { openChannel, SessionRefused } from './open-channel.ts'
import { printable } from './printable.ts'
import { runChannel } from './run-channel.ts'
import { SessionLimit } from './session-limit.ts'
import type { OpenedClient } from './ssh2-client.ts'

// Two below the default MaxSessions: one that is just closing still counts on the server.
const maxSessions = 8
const refusedPauseMs = 20
const closeMs = 2_000

export interface ConnectionOptions extends OpenedClient {
  readonly host: Host
  readonly channelMs: number
  /** Called once, when the connection is gone. */
  readonly onClose: () => void
}

export class Ssh2Connection implements Connection {
  readonly host: Host
  readonly serverVersion: string
  readonly #client: Client
  readonly #channelMs: number
  readonly #sessions = new SessionLimit(maxSessions)
  readonly #lost = new AbortController()
  readonly #closed = Promise.withResolvers<void>()
  #trouble: Error | undefined

  constructor({ host, serverVersion, client, closed, channelMs, onClose }: ConnectionOptions) {
    this.host = host
    this.serverVersion = serverVersion
    this.#client = client
    this.#channelMs = channelMs
    client.on('error', (error) => {
      this.#trouble = error
    })
    const end = (): void => {
      this.#lost.abort(this.#lostError())
      this.#closed.resolve()
      onClose()
    }
    if (closed.aborted) end()
    else closed.addEventListener('abort', end, { once: true })
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
    if (this.#lost.signal.aborted) return
    this.#client.end()
    const timer = setTimeout(() => this.#client.destroy(), closeMs)
    await this.#closed.promise
    clearTimeout(timer)
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
    const attach = (channel: ClientChannel) => ({ ended: runChannel(channel, run) })
    const open = { command: request.command, deadlineMs: this.#channelMs, signal, attach }
    await this.#sessions.acquire(signal)
    for (;;) {
      try {
        return await openChannel(this.#client, open)
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
    const why = this.#trouble === undefined ? 'The host closed it' : printable(this.#trouble.message)
    return new DroverError({
      code: 'connection-lost',
      message: `The connection to ${this.host.address} port ${this.host.port} broke: ${why}.`,
      remedy: 'Run again; drover looks at the host anew before it changes anything.',
      cause: this.#trouble,
    })
  }
}

const timeoutError = (deadlineMs: number): DroverError =>
  new DroverError({
    code: 'command-timeout',
    message: `The command did not end within ${deadlineMs} ms.`,
    remedy: 'See on the host what it waits for (`ps`, a dead mount, a lock); it may still be running there.',
  })
