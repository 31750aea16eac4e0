import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import type { HostLines } from '../host-keys/known-hosts-lookup.ts'
import { handshakeError, handshakeTimeout } from '../ssh2/handshake-errors.ts'
import { unresolved } from '../ssh2/resolve.ts'
import { connectError } from '../ssh2/tcp.ts'
import { leavesAddresses } from './arguments.ts'
import { hostKeyFailure } from './host-key-failure.ts'
import { loginBroke, loginHungUp, loginRefused } from './login-errors.ts'
import type { MasterLog } from './master-log.ts'
import { NoWayThrough } from './why-not-through.ts'

export interface FailureFacts {
  readonly host: Host
  readonly log: MasterLog
  readonly hasPassword: boolean
  /** What known_hosts says about the host. */
  readonly known: HostLines
  readonly connectMs: number
  readonly handshakeMs: number
  /** The jump host through which it goes. */
  readonly via: string | undefined
}

/** Why an ssh process ended before the connection stood, in the codes that all transports share. */
export const masterError = (facts: FailureFacts): DroverError => {
  const { host, log, via, connectMs, handshakeMs } = facts
  switch (log.stage) {
    case 'start':
    case 'resolve':
      return startError(host, log)
    case 'connect':
      // What runs a ProxyCommand does not know when that has connected; who has been spoken to knows.
      return log.greeting === '' ? connectionError(facts) : handshakeError(host, greetingOf(log), causeIn(log))
    case 'handshake':
      if (log.words.some((word) => /timed out during banner exchange/i.test(word)))
        return handshakeTimeout(host, leavesAddresses(host, via) ? connectMs : handshakeMs)
      return hostKeyFailure(facts) ?? handshakeError(host, greetingOf(log), causeIn(log))
    default:
      if (log.words.some(isRefusal)) return loginRefused(facts)
      return log.hasAccepted && log.words.some(isHangUp) ? loginHungUp(facts) : loginBroke(facts)
  }
}

export const connectTimeout = ({ host, via }: FailureFacts, deadlineMs: number): DroverError => {
  const place = `${host.address} port ${host.port}${via === undefined ? '' : ` from jump host ${via}`}`
  return new DroverError({
    code: 'connect-timeout',
    message: `No answer to the TCP connection from ${place} within ${deadlineMs} ms.`,
    remedy: 'See that the host is up, that a route or VPN leads to it, and that no firewall drops the port.',
  })
}

const lastWord = (log: MasterLog): string => printable(log.words.at(-1) ?? 'it said nothing')

const startError = (host: Host, log: MasterLog): DroverError => {
  for (const word of log.words) {
    const why = /Could not resolve hostname .*?: (.*)$/.exec(word)?.[1]
    if (why !== undefined) return unresolved(host, printable(why))
  }
  const isConfig = log.words.some((word) =>
    /Bad configuration|bad configuration options|Can't open user config|: line \d+:/.test(word),
  )
  return new DroverError({
    code: isConfig ? 'ssh-config-invalid' : 'connect-failed',
    message: `ssh did not begin to connect to ${host.address} port ${host.port}: ${lastWord(log)}.`,
    remedy: isConfig
      ? 'Correct the ssh_config, or leave it out with -F none.'
      : 'Try `ssh -v` by hand, or take the other client with --transport ssh2.',
    ...detailOf(log),
  })
}

// As the C library words them with LC_ALL=C.
const errnoOf = new Map([
  ['Connection refused', 'ECONNREFUSED'],
  ['No route to host', 'EHOSTUNREACH'],
  ['Network is unreachable', 'ENETUNREACH'],
  ['Connection reset by peer', 'ECONNRESET'],
  ['Connection timed out', 'ETIMEDOUT'],
  ['Operation timed out', 'ETIMEDOUT'],
  ['Too many open files', 'EMFILE'],
  ['Cannot assign requested address', 'EADDRNOTAVAIL'],
])

const connectionError = (facts: FailureFacts): DroverError => {
  const { host, log, via, connectMs } = facts
  for (const word of [...log.words].reverse()) {
    const why = /connect to (?:host|address) .* port \d+: (.*)$/.exec(word)?.[1]
    if (why === undefined) continue
    const code = errnoOf.get(why)
    return connectError(`${host.address} port ${host.port}`, Object.assign(new Error(printable(why)), code && { code }))
  }
  if (log.words.some((word) => /timed out during banner exchange/i.test(word))) return connectTimeout(facts, connectMs)
  if (via !== undefined) {
    return new NoWayThrough('cut', {
      code: 'connect-failed',
      message: `Jump host ${via} gave no way to ${host.address} port ${host.port}.`,
      remedy: 'Run again; if it comes again, look in the log of the jump host.',
      ...detailOf(log),
    })
  }
  return new DroverError({
    code: 'connect-failed',
    message: `The ProxyCommand for ${host.address} port ${host.port} ended before an SSH server answered.`,
    remedy: 'Run the ProxyCommand of your ssh_config by hand, and see what it says.',
    ...detailOf(log),
  })
}

/** Text that ssh did not take for an SSH server's, where it does not show it line by line. */
const greetingOf = ({ version, greeting, words }: MasterLog): { version: string; text: string } => {
  const complaint = words.find((word) =>
    /banner line|No SSH version|invalid characters|protocol identification/.test(word),
  )
  return { version, text: greeting.trim() || (version === '' ? (complaint ?? '') : '') }
}

/** Undefined: the line was cut, and neither side has named a fault. */
const causeIn = ({ words }: MasterLog): Error | undefined => {
  const isCut = (word: string): boolean =>
    /^(?:kex_exchange_identification: |ssh_dispatch_run_fatal: |banner exchange: )?.*(?:Connection (?:closed|reset|to UNKNOWN)|Broken pipe)/.test(
      word,
    )
  // What it says by the way: a key that was new, a key exchange that it does not like.
  const isAside = (word: string): boolean => /^(?:Warning: |\*\* )/.test(word)
  const spoken = words.filter((word) => !isCut(word) && !isAside(word)).at(-1)
  return spoken === undefined ? undefined : new Error(printable(spoken))
}

const isRefusal = (word: string): boolean =>
  /Permission denied|Too many authentication failures|No supported authentication methods/i.test(word)

/** Not a reset, and no break of the line. */
const isHangUp = (word: string): boolean => /^Connection closed by /.test(word)

const detailOf = ({ words }: MasterLog): { detail?: string } =>
  words.length === 0
    ? {}
    : {
        detail: words
          .slice(-5)
          .map((word) => printable(word))
          .join('\n'),
      }
