import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import type { SetbackKind } from '../pacing/setback.ts'
import { Setback } from '../pacing/setback.ts'
import type { Greeting } from './greeting.ts'

export const placeOf = (host: Host): string => `${host.address} port ${host.port}`

/** `hasGreeted`: it is an SSH server, and alive. */
export const handshakeTimeout = (host: Host, deadlineMs: number, hasGreeted = false): Setback =>
  new Setback(hasGreeted ? 'slow' : 'late', {
    code: 'handshake-failed',
    message: `${placeOf(host)} took the connection, but the SSH handshake did not end within ${deadlineMs} ms.`,
    remedy: 'See that the port is that of sshd and that the host is not overloaded: `ssh -v` shows how far it gets.',
  })

/** sshd gives its reasons as a line of text before it hangs up; they call for different answers. */
export const handshakeError = (host: Host, greeting: Greeting, cause: Error | undefined): DroverError => {
  const text = printable(greeting.text)
  const { message, remedy, kind } = explain(placeOf(host), greeting, cause)
  const details = { code: 'handshake-failed', message, remedy, ...(text !== '' && { detail: text }), cause } as const
  return kind === undefined ? new DroverError(details) : new Setback(kind, details)
}

interface Explanation {
  readonly message: string
  readonly remedy: string
  /** Undefined: another try would end the same way. */
  readonly kind?: SetbackKind
}

const explain = (place: string, { version, text }: Greeting, cause: Error | undefined): Explanation => {
  if (text.includes('Exceeded MaxStartups')) {
    return {
      kind: 'crowded',
      message: `sshd at ${place} has too many logins under way (MaxStartups).`,
      remedy: 'Run again with fewer hosts at a time, or raise MaxStartups in its sshd_config.',
    }
  }
  if (text.includes('Not allowed at this time')) {
    return {
      kind: 'shut-out',
      // From OpenSSH 9.8 on it says the same for both.
      message:
        `sshd at ${place} turns this machine away for now: after failed logins from it (PerSourcePenalties), ` +
        'or because too many logins are under way (MaxStartups).',
      remedy:
        'Find the credential that was refused, if any, wait up to ten minutes, then run again with fewer --forks.',
    }
  }
  if (version === '' && text !== '') {
    return {
      message: `What answers at ${place} is no SSH server.`,
      remedy: "Correct the host's port in the inventory; its answer is shown above.",
    }
  }
  if (version === '') {
    return {
      kind: 'dropped',
      message: `${place} closed the connection before the SSH handshake.`,
      remedy: 'Look in its log: sshd may be overloaded, starting, or told to refuse this address.',
    }
  }
  return {
    ...(isCut(cause) && { kind: 'cut' }),
    message: `The SSH handshake with ${place} failed: ${printable(cause?.message ?? 'it closed the connection')}.`,
    remedy:
      'Compare its sshd_config (KexAlgorithms, Ciphers, MACs, HostKeyAlgorithms) with `ssh -v`: drover speaks ' +
      'curve25519, NIST curves and group14/16; AES and ChaCha20; ed25519, ECDSA and RSA host keys without certificates.',
  }
}

/** Closed or reset in the middle, where neither side has named a fault. */
const isCut = (cause: (Error & { code?: unknown }) | undefined): boolean =>
  cause === undefined ||
  cause.code === 'ECONNRESET' ||
  cause.code === 'EPIPE' ||
  cause.message === 'Connection lost before handshake'
