import type { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'

/** One command on the far side. */
export interface ExecRequest {
  /** A whole command line, fit for any login shell (see command.ts). */
  readonly command: string
  /** Bytes for its standard input, which is closed after them; absent: closed at once. Pieces are never copied into one. */
  readonly stdin?: Stdin
  /** Instead of `stdin`, for a command that asks: is handed its input, and sees both streams as they come. */
  readonly talk?: (input: ExecInput) => ExecTalk
  /** From the start of the request to its end. */
  readonly deadlineMs: number
  /** More output than this, both streams together, ends the command as `inspect-failed`. */
  readonly maxBytes: number
  /** Called with each piece of standard output as it arrives; the whole is in the result as well. */
  readonly onStdout?: (chunk: Uint8Array) => void
  readonly signal?: AbortSignal
}

export type Stdin = Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>

/** The standard input of a command that is under way. */
export interface ExecInput {
  /** Resolves when more may be written; never rejects, since a command that is gone says so itself. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Ends the command with this error. */
  fail(error: DroverError): void
}

export interface ExecTalk {
  stdout?(chunk: Uint8Array): void
  stderr?(chunk: Uint8Array): void
}

/**
 * A command that ended and said so. `code` is its exit status; a command killed by a signal has none
 * and names the signal instead.
 */
export interface ExecResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/**
 * An authenticated way to one host. Several execs may run at once. `exec` rejects with a DroverError:
 * `channel-failed`, `connection-lost` (a channel that closes without an exit status is a lost
 * connection, never success), `command-timeout`, `cancelled`.
 */
export interface Connection {
  readonly host: Host
  /** What the far side calls itself, for the report: `SSH-2.0-OpenSSH_9.2p1 ...`. */
  readonly serverVersion: string
  exec(request: ExecRequest): Promise<ExecResult>
  close(): Promise<void>
}

/** Milliseconds for each stage of a connection, each with an error of its own. */
export interface StageDeadlines {
  readonly resolveMs: number
  readonly connectMs: number
  readonly handshakeMs: number
  readonly authMs: number
  readonly channelMs: number
}

/** The ways a transport can say what it did without failing: a key learnt, a policy that is off. */
export interface TransportNotice {
  /** Null: it is about many. */
  readonly host: string | null
  readonly message: string
}

/** How far a connection is, for whoever watches. `waiting`: held back so as not to overrun the far side. */
export type ConnectStage = 'waiting' | 'resolve' | 'connect' | 'handshake' | 'authenticate'

export interface ConnectOptions {
  readonly signal?: AbortSignal | undefined
  readonly onStage?: ((stage: ConnectStage) => void) | undefined
  /** Called with what went wrong, whenever it is going to try again by itself. */
  readonly onRetry?: ((error: DroverError) => void) | undefined
}

export interface Transport {
  /** Rejects with `resolve-failed`, `connect-*`, `handshake-failed`, `host-key-*`, `auth-failed`, `connection-lost`, `cancelled`. */
  connect(host: Host, options?: ConnectOptions): Promise<Connection>
  /** Reads what the hosts and their jump hosts need of this machine, and rejects if some of it is unusable. */
  prepare(hosts: readonly Host[]): Promise<void>
  /** Ends connections shared between hosts, such as those to jump hosts. */
  close(): Promise<void>
}
