import type { Duplex } from 'node:stream'
import type { ErrorDetails } from '../../errors.ts'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import { Setback } from '../pacing/setback.ts'
import type { ChannelError, SessionClient } from '../session/session-client.ts'
import { runStage } from '../stage.ts'

// Reasons for a channel that was not opened (RFC 4254, 5.1).
const administrativelyProhibited = 1
const resourceShortage = 4

export interface ForwardOptions {
  readonly jump: Host
  readonly host: Host
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** A way through a jump host to a host, whose name the jump host resolves. */
export const forward = (client: SessionClient, { jump, host, deadlineMs, signal }: ForwardOptions): Promise<Duplex> => {
  const place = `${host.address} port ${host.port} from jump host ${jump.name}`
  const timeoutError = () =>
    new DroverError({
      code: 'connect-timeout',
      message: `No TCP connection to ${place} within ${deadlineMs} ms.`,
      remedy: 'See that the host is up, and that no firewall between the jump host and it drops the port.',
    })
  return runStage({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    let isAbandoned = false
    try {
      client.forwardOut('127.0.0.1', 0, host.address, host.port, (error: ChannelError | undefined, channel) => {
        if (error !== undefined) return failed(forwardError(place, jump, error))
        channel.on('error', () => undefined)
        if (isAbandoned) channel.destroy()
        else done(channel)
      })
    } catch (error) {
      failed(jumpClosed(jump, error))
    }
    return () => {
      isAbandoned = true
    }
  })
}

const forwardError = (place: string, jump: Host, error: ChannelError): DroverError => {
  if (error.reason === undefined) return jumpClosed(jump, error)
  const details: ErrorDetails = {
    code: 'connect-failed',
    message: `No TCP connection to ${place}: ${printable(error.message)}.`,
    remedy:
      error.reason === administrativelyProhibited
        ? `Allow forwarding in the sshd_config of ${jump.name} (AllowTcpForwarding, PermitOpen).`
        : `See that ${jump.name} can resolve and reach the host on this port.`,
    cause: error,
  }
  if (error.reason === resourceShortage) return new Setback('dropped', details)
  return /connection refused/i.test(error.message) ? new Setback('refused', details) : new DroverError(details)
}

/** Whoever goes through it loses the way; the host behind it has done nothing. */
export const jumpClosed = (jump: Host, cause?: unknown): Setback =>
  new Setback('way-lost', {
    code: 'connect-failed',
    message: `The connection to jump host ${jump.name} broke.`,
    remedy: 'See why the jump host ended it, then run again.',
    cause,
  })
