import type { ErrorCode, ErrorDetails } from '../../errors.ts'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printable, printableText } from '../../printable.ts'
import { tooLongForSsh2 } from '../called-for.ts'
import { Setback } from '../pacing/setback.ts'
import { placeOf } from '../ssh2/handshake-errors.ts'
import type { AuthAttempt, LoginStop } from './auth-handler.ts'
import { certificateWords } from './certificate.ts'

interface Failure {
  readonly why: string
  readonly remedy: string
}

export const authTimeout = (host: Host, deadlineMs: number, attempt: AuthAttempt): Setback =>
  new Setback(
    'late',
    loginDetails(attempt, {
      code: 'handshake-failed',
      message: `${placeOf(host)} did not let ${host.user} log in: the login did not end within ${deadlineMs} ms.`,
      remedy: 'See that ssh-agent does not wait for a confirmation, and that the host can look up its users.',
    }),
  )

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

/** ssh2 takes no packet above 35,000 bytes, the least that RFC 4253 asks for. Before the login only a banner is so long. */
export const isPacketTooLong = (cause: Error | undefined): boolean => cause?.message === 'Bad packet length'

export const bannerTooLong = (host: Host, cause: Error | undefined): DroverError =>
  new DroverError({
    code: 'handshake-failed',
    message: `${placeOf(host)} greets with a login banner of more than 35,000 bytes, which is ${tooLongForSsh2}.`,
    remedy: "Shorten the file of `Banner` in its sshd_config, or use this machine's ssh (transport: openssh).",
    cause,
  })

/**
 * sshd answers every signed key, save where it is right and PAM does not let the account in: then it hangs up. So does
 * one that is being stopped, but not twice. `banner`: what PAM had to say. That of a host on its way up or down passes.
 */
export const loginHungUp = (host: Host, attempt: AuthAttempt, banner: string): Setback => {
  const words = printableText(banner.trim()).slice(0, 1000)
  const lost = loginLost(host, attempt, words === '' ? undefined : new Error(words))
  const { code, message, remedy, detail } = lost
  const refused = { code: 'auth-failed', message: notLetIn(host, accountWords), remedy: accountRemedy } as const
  const more = { ...(detail !== undefined && { detail }) }
  return new Setback(
    'hung-up',
    { code, message, remedy, ...more },
    isPassing(words) ? undefined : { ...refused, ...more },
  )
}

/** As systemd has pam_nologin say while it boots and while it shuts down. */
export const isPassing = (words: string): boolean => /pam_nologin|System is (?:booting up|going down)/.test(words)

export const accountWords = 'it hung up instead of an answer to the key, as sshd does where PAM refuses the account'

export const accountRemedy =
  'See that the account is not expired and that PAM lets it in: sshd says in its log "Access denied by PAM account ' +
  'configuration". If it does not, see what else ends its connections.'

export const authError = (host: Host, attempt: AuthAttempt, cause: Error | undefined): DroverError => {
  if (attempt.stop?.kind === 'failed' && attempt.stop.error instanceof DroverError) return attempt.stop.error
  const { why, remedy } = attempt.stop ? stopped(host, attempt.stop) : refused(host, attempt, cause)
  return loginFailure(attempt, { code: 'auth-failed', message: notLetIn(host, why), remedy, cause })
}

/** Hosts have refused the password before: this one was not even connected to. */
export const refusedElsewhere = (host: Host, refusedBy: readonly string[]): DroverError => {
  const { why, remedy } = stopped(host, { kind: 'refused-elsewhere', refusedBy })
  return new DroverError({ code: 'auth-failed', message: notLetIn(host, why), remedy })
}

const notLetIn = (host: Host, why: string): string => `${placeOf(host)} did not let ${host.user} log in: ${why}.`

const stopped = (host: Host, stop: LoginStop): Failure => {
  switch (stop.kind) {
    case 'refused-elsewhere':
      return {
        why:
          stop.refusedBy.length === 1 && stop.refusedBy[0] === host.name
            ? 'it has refused the password before, and is not asked again'
            : `the password was not tried, since ${stop.refusedBy.join(' and ')} refused it and no host has taken it`,
        remedy: 'Run again with the right password; trying a wrong one everywhere could lock the account.',
      }
    case 'unanswered':
      return {
        why: `it asks "${stop.question}", and there is nobody to answer`,
        remedy: 'Run drover in a terminal, or let this user in without that question.',
      }
    case 'password-expired':
      return {
        why: `the password has expired (it says: ${stop.words})`,
        remedy: `Change it by hand (ssh ${host.user}@${host.address}), then run again.`,
      }
    case 'endless':
      return {
        why: 'it asks one question after another',
        remedy: `Log in by hand (ssh ${host.user}@${host.address}) to see what it wants.`,
      }
    case 'failed':
      return { why: printable(stop.error.message), remedy: 'Run again.' }
  }
}

const refused = (host: Host, attempt: AuthAttempt, cause: Error | undefined): Failure => {
  const { offered, serverMethods, isPartial, password } = attempt
  const takes = (method: string): boolean => serverMethods.includes(method)
  const takesPassword = takes('password') || takes('keyboard-interactive')
  if (password === 'refused' || (password === 'sent' && cause?.message.includes('authentication failures')))
    return {
      why: offered.length === 0 ? 'it refused the password' : 'it refused every key and the password',
      remedy:
        'Correct the password or the user. A locked account, or one that sshd does not allow (AllowUsers, ' +
        'PermitRootLogin), is refused in the same words: its log tells.',
    }
  if (isPartial)
    return {
      why: `what it was given is right, but it also wants ${methodWords(serverMethods)}`,
      remedy:
        takesPassword && password === 'none'
          ? 'Give the password with -k or DROVER_SSH_PASSWORD; codes are asked for in a terminal.'
          : 'Give drover what else it wants, or let this user in without it.',
    }
  if (cause?.message.includes('Too many authentication failures'))
    return {
      why: `it ended the login after ${counted(offered.length)} (MaxAuthTries)`,
      remedy:
        'Name the right key with --private-key or `identity_file` (KEY.pub means the one in ssh-agent), so that it ' +
        'is offered first.',
    }
  const passwordRemedy = takesPassword && password === 'none' ? ', or give its password with -k' : ''
  if (offered.length === 0)
    return {
      why:
        serverMethods.length === 0 || takes('publickey')
          ? 'no key to offer'
          : `it takes only ${methodWords(serverMethods)}`,
      remedy: `Name a private key with --private-key FILE or \`identity_file\`, or load one into ssh-agent${passwordRemedy}.`,
    }
  return {
    why: 'it refused every key',
    remedy:
      certificateRemedy(host, attempt) ??
      `Put the public key into ~${host.user}/.ssh/authorized_keys on the host, or correct user or key in the ` +
        `inventory${passwordRemedy}. An account that is locked or not allowed (AllowUsers) is refused in the same words.`,
  }
}

/** Why a server that trusts the authority may refuse a certificate all the same. */
const certificateRemedy = ({ user }: Host, { offered }: AuthAttempt): string | undefined => {
  const certificate = offered.find((credential) => credential.certificate !== undefined)?.certificate
  if (certificate === undefined) return undefined
  const { principals } = certificate
  if (principals.length > 0 && !principals.includes(user))
    return `The certificate is for ${principals.map(printable).join(', ')}, and the user is ${user}: correct either.`
  return (
    `See that the host trusts the authority of the certificate (TrustedUserCAKeys) and that its clock is right: ` +
    `${printable(certificateWords(certificate))}.`
  )
}

const methodWords = (methods: readonly string[]): string => printable(methods.join(' or '))

const counted = (count: number): string => (count === 1 ? 'one key' : `${count} keys`)

interface LoginFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly remedy: string
  readonly cause?: Error | undefined
}

const loginFailure = (attempt: AuthAttempt, failure: LoginFailure): DroverError =>
  new DroverError(loginDetails(attempt, failure))

const loginDetails = (attempt: AuthAttempt, { cause, ...failure }: LoginFailure): ErrorDetails => {
  const detail = [
    ...attempt.offered.map(({ label }) => `offered: ${printable(label)}`),
    ...(attempt.password === 'none' || attempt.password === 'unsent' ? [] : ['offered: the password']),
    ...attempt.notOffered.map((words) => `not tried: ${printable(words)}`),
    ...(cause === undefined ? [] : [printableText(cause.message)]),
  ].join('\n')
  return { ...failure, ...(detail !== '' && { detail }), cause }
}
