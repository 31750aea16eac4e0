import type { ErrorCode } from '../errors.ts'
import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { printableText as printable } from '../printable.ts'
import type { AuthAttempt } from './auth-handler.ts'
import type { Greeting } from './greeting.ts'

const placeOf = (host: Host): string => `${host.address} port ${host.port}`

export const handshakeTimeout = (host: Host, deadlineMs: number): DroverError =>
  new DroverError({
    code: 'handshake-failed',
    message: `${placeOf(host)} took the connection, but the SSH handshake did not end within ${deadlineMs} ms.`,
    remedy: 'See that the port is that of sshd and that the host is not overloaded: `ssh -v` shows how far it gets.',
  })

/** sshd gives its reasons as a line of text before it hangs up; they call for different answers. */
export const handshakeError = (host: Host, greeting: Greeting, cause: Error | undefined): DroverError => {
  const text = printable(greeting.text)
  const { message, remedy } = explain(placeOf(host), greeting, cause)
  return new DroverError({ code: 'handshake-failed', message, remedy, ...(text !== '' && { detail: text }), cause })
}

const explain = (
  place: string,
  { version, text }: Greeting,
  cause: Error | undefined,
): { message: string; remedy: string } => {
  if (text.includes('Exceeded MaxStartups')) {
    return {
      message: `sshd at ${place} has too many logins under way (MaxStartups).`,
      remedy: 'Run again with fewer hosts at a time, or raise MaxStartups in its sshd_config.',
    }
  }
  if (text.includes('Not allowed at this time')) {
    return {
      message: `sshd at ${place} shuts this machine out for a while, after failed logins from it (PerSourcePenalties).`,
      remedy: 'Find the credential that was refused, wait up to ten minutes, then run again.',
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
      message: `${place} closed the connection before the SSH handshake.`,
      remedy: 'Look in its log: sshd may be overloaded, starting, or told to refuse this address.',
    }
  }
  return {
    message: `The SSH handshake with ${place} failed: ${printable(cause?.message ?? 'it closed the connection')}.`,
    remedy:
      'Compare its sshd_config (KexAlgorithms, Ciphers, MACs, HostKeyAlgorithms) with `ssh -v`: drover speaks ' +
      'curve25519, NIST curves and group14/16; AES and ChaCha20; ed25519, ECDSA and RSA host keys without certificates.',
  }
}

export const authTimeout = (host: Host, deadlineMs: number, attempt: AuthAttempt): DroverError =>
  loginFailure(attempt, {
    code: 'handshake-failed',
    message: `${placeOf(host)} did not let ${host.user} log in: the login did not end within ${deadlineMs} ms.`,
    remedy: 'See that ssh-agent does not wait for a confirmation, and that the host can look up its users.',
  })

/** Not `auth-failed`: nobody has said that the keys are wrong. */
export const loginLost = (host: Host, attempt: AuthAttempt, cause: Error | undefined): DroverError =>
  loginFailure(attempt, {
    code: 'connection-lost',
    message: `The connection to ${placeOf(host)} broke during the login of ${host.user}.`,
    remedy:
      'Run again. If it breaks again, look in the log of its sshd, which may not let this account in (PAM), and at ' +
      'what stands between.',
    cause,
  })

export const authError = (host: Host, attempt: AuthAttempt, cause: Error | undefined): DroverError => {
  if (attempt.isPartial) {
    return authFailure(host, `a key was accepted, but it also wants ${attempt.serverMethods.join(' or ')}`, attempt, {
      remedy: 'drover logs in with keys alone: exempt this user from the second factor on the host.',
      cause,
    })
  }
  if (attempt.offered.length === 0) {
    const why =
      attempt.serverMethods.length > 0 ? `it takes only ${attempt.serverMethods.join(', ')}` : 'no key to offer'
    return authFailure(host, why, attempt, {
      remedy:
        'Name a private key with --private-key FILE or `identity_file` in the inventory, or load one into ssh-agent.',
      cause,
    })
  }
  return authFailure(host, 'it refused every key', attempt, {
    remedy: `Put the public key into ~${host.user}/.ssh/authorized_keys on the host, or correct user or key in the inventory.`,
    cause,
  })
}

const authFailure = (
  host: Host,
  why: string,
  attempt: AuthAttempt,
  { remedy, cause }: { remedy: string; cause: Error | undefined },
): DroverError =>
  loginFailure(attempt, {
    code: 'auth-failed',
    message: `${placeOf(host)} did not let ${host.user} log in: ${why}.`,
    remedy,
    cause,
  })

interface LoginFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly remedy: string
  readonly cause?: Error | undefined
}

const loginFailure = (attempt: AuthAttempt, { cause, ...failure }: LoginFailure): DroverError => {
  const detail = [...attempt.offered.map((label) => `offered: ${label}`), cause && printable(cause.message)]
    .filter((line) => line !== undefined)
    .join('\n')
  return new DroverError({ ...failure, ...(detail !== '' && { detail }), cause })
}
