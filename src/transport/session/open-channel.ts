import { DroverError } from '../../errors.ts'
import { printableText as printable } from '../../printable.ts'
import { runStage } from '../stage.ts'
import type { ChannelError, SessionChannel, SessionClient } from './session-client.ts'

/** The server has no session left. Other sessions of ours may be what fills it. */
export class SessionRefused extends DroverError {}

export interface OpenChannelOptions<T> {
  readonly command: string
  readonly deadlineMs: number
  readonly signal: AbortSignal
  /**
   * Called within ssh2's callback, and has to listen at once: a quick command's whole answer, its exit status
   * included, can stand in the same packet and is told in the same turn.
   */
  readonly attach: (channel: SessionChannel) => T
}

/** Asks for a session and for the command in it. */
export const openChannel = <T>(client: SessionClient, options: OpenChannelOptions<T>): Promise<T> => {
  const { command, deadlineMs, signal, attach } = options
  // A link on which packets are lost both ways looks so until keepalive finds it dead, and like one it is made anew.
  const timeoutError = () =>
    new DroverError({
      code: 'connection-lost',
      message: `The host did not open a session for a command within ${deadlineMs} ms.`,
      remedy: 'The host or the link may be overloaded. See that `ssh HOST true` answers, then run again.',
    })
  return runStage({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    let isAbandoned = false
    try {
      client.exec(command, (error: ChannelError | undefined, channel) => {
        if (error !== undefined) failed(refusal(error))
        else if (isAbandoned) discard(channel)
        else done(attach(channel))
      })
    } catch (error) {
      // ssh2 throws at once when its socket is closed already.
      failed(closedError(error))
    }
    return () => {
      isAbandoned = true
    }
  })
}

const discard = (channel: SessionChannel): void => {
  channel.on('error', () => undefined)
  channel.resume()
  channel.stderr.resume()
  channel.close()
}

const refusal = (error: ChannelError): DroverError => {
  // What ssh2 says of a question that was under way when the connection closed.
  if (error.message === 'No response from server') return closedError(error)
  const isSession = error.reason !== undefined
  const details = {
    code: 'channel-failed',
    message: `The host runs no command: ${printable(error.message)}.`,
    remedy: isSession
      ? "Raise MaxSessions in the host's sshd_config (OpenSSH's own default is 10)."
      : 'See that no ForceCommand, `restrict` option or login shell of the user forbids commands.',
    cause: error,
  } as const
  return isSession ? new SessionRefused(details) : new DroverError(details)
}

const closedError = (cause: unknown): DroverError =>
  new DroverError({
    code: 'connection-lost',
    message: 'The connection to the host is closed.',
    remedy: 'Run again; drover looks at the host anew before it changes anything.',
    cause,
  })
