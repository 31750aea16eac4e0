import type { ErrorCode, ErrorDetails } from '../../errors.ts'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { printableText as printable } from '../../printable.ts'
import { accountRemedy, accountWords, isPassing } from '../login/login-errors.ts'
import { Setback } from '../pacing/setback.ts'
import type { MasterLog } from './master-log.ts'

const placeOf = (host: Host): string => `${host.address} port ${host.port}`

export interface LoginFacts {
  readonly host: Host
  readonly log: MasterLog
  readonly hasPassword: boolean
}

/** The host said no. */
export const loginRefused = (facts: LoginFacts): DroverError => {
  const { host, log, hasPassword } = facts
  const methods = log.serverMethods
  const refused = (why: string, remedy: string): DroverError =>
    loginError(facts, 'auth-failed', `${placeOf(host)} did not let ${host.user} log in: ${why}.`, remedy)
  if (log.isPartial) {
    return refused(
      `a key was accepted, but it also wants ${methods.join(' or ')}`,
      'Give the password with -k or in the inventory, or exempt this user from the second factor on the host.',
    )
  }
  if (hasPassword && methods.some((method) => method === 'password' || method === 'keyboard-interactive')) {
    return refused('it refused the password', 'Correct the password, or see that the account is not locked or expired.')
  }
  const unusable = log.words.find((word) => /^Load key "/.test(word))
  if (unusable !== undefined) {
    return refused(`a key cannot be used (${printable(unusable)})`, 'Correct that key file, or name another one.')
  }
  if (log.offered.length === 0) {
    const isKeyTaken = methods.includes('publickey') || methods.length === 0
    return refused(
      isKeyTaken ? 'no key to offer' : `it takes only ${methods.join(', ')}`,
      'Name a private key with --private-key FILE or `identity_file` in the inventory, or load one into ssh-agent.',
    )
  }
  return refused(
    'it refused every key',
    `Put the public key into ~${host.user}/.ssh/authorized_keys on the host, or correct user or key in the inventory.`,
  )
}

/** Not `auth-failed`: nobody has said that the keys are wrong. */
export const loginBroke = (facts: LoginFacts): DroverError =>
  loginError(
    facts,
    'connection-lost',
    `The connection to ${placeOf(facts.host)} broke during the login of ${facts.host.user}.`,
    'Run again. If it breaks again, look in the log of its sshd, which may not let this account in (PAM), and at ' +
      'what stands between.',
  )

export const loginTimeout = (facts: LoginFacts, deadlineMs: number): Setback =>
  new Setback(
    'late',
    loginDetails(
      facts,
      'handshake-failed',
      `${placeOf(facts.host)} did not let ${facts.host.user} log in: the login did not end within ${deadlineMs} ms.`,
      'See that ssh-agent does not wait for a confirmation, and that the host can look up its users.',
    ),
  )

/** It has taken the key, and hung up. */
export const loginHungUp = (facts: LoginFacts): Setback => {
  const { host, log } = facts
  const refused = `${placeOf(host)} did not let ${host.user} log in: ${accountWords}.`
  const ifAgain = log.words.some(isPassing) ? undefined : loginDetails(facts, 'auth-failed', refused, accountRemedy)
  const { code, message, remedy, detail } = loginBroke(facts)
  return new Setback('hung-up', { code, message, remedy, ...(detail !== undefined && { detail }) }, ifAgain)
}

const loginError = (...failure: Parameters<typeof loginDetails>): DroverError =>
  new DroverError(loginDetails(...failure))

const loginDetails = ({ log }: LoginFacts, code: ErrorCode, message: string, remedy: string): ErrorDetails => {
  const offers = log.offered.map(
    ({ name, type, fingerprint, isOfAgent }) =>
      `offered: ${isOfAgent ? 'ssh-agent' : printable(name)} (${type} ${fingerprint})`,
  )
  const detail = [...offers, ...log.words.slice(-3).map((word) => printable(word))].join('\n')
  return { code, message, remedy, ...(detail !== '' && { detail }) }
}
