import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { ErrorDetails } from '../../errors.ts'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { SetbackKind } from '../pacing/setback.ts'
import { Setback } from '../pacing/setback.ts'
import { runStage } from '../stage.ts'

/** Tries the addresses in order; the time is shared out, so that a silent first one leaves some for the next. */
export const connectTcp = async (
  host: Host,
  addresses: readonly string[],
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Socket> => {
  const failures: DroverError[] = []
  const until = performance.now() + deadlineMs
  for (const [index, address] of addresses.entries()) {
    const shareMs = Math.max(1, Math.ceil((until - performance.now()) / (addresses.length - index)))
    try {
      return await connectOne(host, address, shareMs, signal)
    } catch (error) {
      if (!(error instanceof DroverError) || error.code === 'cancelled') throw error
      failures.push(error)
    }
  }
  throw combine(failures)
}

const connectOne = (host: Host, address: string, deadlineMs: number, signal?: AbortSignal): Promise<Socket> => {
  const place = `${address === host.address ? '' : `${host.address} `}${address} port ${host.port}`
  const timeoutError = () =>
    new DroverError({
      code: 'connect-timeout',
      message: `No answer to the TCP connection from ${place} within ${deadlineMs} ms.`,
      remedy: 'See that the host is up, that a route or VPN leads to it, and that no firewall drops the port.',
    })
  return runStage({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    const socket = connect({
      host: address,
      port: host.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
    })
    // For the life of the socket: a late error without a listener would end the process.
    socket.on('error', (error: NodeJS.ErrnoException) => failed(connectError(place, error)))
    socket.once('connect', () => done(socket))
    return () => socket.destroy()
  })
}

export const connectError = (place: string, error: NodeJS.ErrnoException): DroverError => {
  const { code = '' } = error
  const details: ErrorDetails = {
    code: code === 'ETIMEDOUT' ? 'connect-timeout' : 'connect-failed',
    message: `No TCP connection to ${place}: ${reasons.get(code) ?? error.message}.`,
    remedy: remedies.get(code) ?? 'See that the address is right and that a route or VPN leads to it.',
    cause: error,
  }
  const kind = setbacks.get(code)
  return kind === undefined ? new DroverError(details) : new Setback(kind, details)
}

const reasons = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to its network'],
  ['ECONNRESET', 'connection reset'],
  ['ETIMEDOUT', 'timed out'],
  ['EMFILE', 'drover may open no more files'],
  ['ENFILE', 'this machine can open no more files'],
  ['EADDRNOTAVAIL', 'this machine has no port left'],
])

const ownLimits = 'Use fewer --forks, or raise the limits of this machine (`ulimit -n`, net.ipv4.ip_local_port_range).'

const remedies = new Map([
  ['ECONNREFUSED', "See that sshd runs there and listens on this port, and that the inventory's port is right."],
  ['EMFILE', ownLimits],
  ['ENFILE', ownLimits],
  ['EADDRNOTAVAIL', ownLimits],
])

const setbacks = new Map<string, SetbackKind>([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'dropped'],
  ['EMFILE', 'exhausted'],
  ['ENFILE', 'exhausted'],
  ['ENOBUFS', 'exhausted'],
  ['EAGAIN', 'exhausted'],
  ['EADDRNOTAVAIL', 'exhausted'],
])

/** Worth another try if that goes for each address. */
const combine = (failures: readonly DroverError[]): DroverError => {
  const last = failures.at(-1)
  if (last === undefined || failures.length === 1) return last ?? noAddress()
  const detail = failures.map((failure) => failure.message).join('\n')
  const details = { code: last.code, message: last.message, remedy: last.remedy, detail, cause: last }
  const isHopeful = failures.every((failure) => failure instanceof Setback)
  return isHopeful && last instanceof Setback ? new Setback(last.kind, details) : new DroverError(details)
}

const noAddress = (): DroverError =>
  new DroverError({
    code: 'connect-failed',
    message: 'The host has no address.',
    remedy: 'Give it one in the inventory.',
  })
