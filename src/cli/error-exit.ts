import { type DroverError, type ErrorCode, toDroverError } from '../errors.ts'
import { type ExitCode, exitCode } from '../report/exit-code.ts'
import { outcomeOf } from '../runner/outcome.ts'

const requestCodes: readonly ErrorCode[] = [
  'usage',
  'inventory-invalid',
  'inventory-not-found',
  'inventory-empty',
  'pattern-no-match',
  'playbook-invalid',
  'playbook-not-found',
  'variable-undefined',
  'secret-in-text',
  'key-unusable',
  'ssh-config-invalid',
  'ssh-client-unusable',
  'known-hosts-unreadable',
  'release-invalid',
  'release-unavailable',
  'confirmation-missing',
  'provision-invalid',
]

/** The exit code of an error by itself; docs/errors.md shows it beside each code. */
export const exitOfError = (code: ErrorCode): ExitCode => {
  if (requestCodes.includes(code)) return 5
  const hosts = [{ outcome: outcomeOf(code), code }]
  return exitCode({ hosts, interrupted: false, halted: false, internal: false, detailedExitCode: false })
}

/** What was thrown, as the errors to show: several where several things are wrong with the request. */
export const errorsOf = (thrown: unknown): readonly DroverError[] =>
  thrown instanceof AggregateError && thrown.errors.length > 0
    ? thrown.errors.map(toDroverError)
    : [toDroverError(thrown)]

/** A wrong request comes before all else, a fault of drover's own next (rule E5). */
export const exitOfErrors = (errors: readonly DroverError[]): ExitCode => {
  const codes = errors.map(({ code }) => exitOfError(code))
  const first = ([5, 1, 130] as const).find((code) => codes.includes(code))
  return first ?? codes[0] ?? 1
}
