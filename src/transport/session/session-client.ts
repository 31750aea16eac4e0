import type { Duplex, Readable } from 'node:stream'

/** A channel with a command in it. Emits `exit` with a code or with null and a signal, and `close` at its end. */
export interface SessionChannel extends Duplex {
  readonly stderr: Readable
  close(): void
}

/** `reason`: the server opened no channel (RFC 4254, 5.1); without it, it opened one and refused what was asked of it. */
export type ChannelError = Error & { reason?: unknown }

/** What connections need of a client that is logged in, whether it is ssh2's or OpenSSH's. */
export interface SessionClient {
  exec(command: string, callback: (error: ChannelError | undefined, channel: SessionChannel) => void): unknown
  forwardOut(
    fromAddress: string,
    fromPort: number,
    toAddress: string,
    toPort: number,
    callback: (error: ChannelError | undefined, channel: Duplex) => void,
  ): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): unknown
  destroy(): unknown
}
