import { expect, test } from 'vitest'
import { DroverError, type ErrorCode } from '../../src/errors.ts'
import { errorReport, outcomeOf } from '../../src/runner/outcome.ts'

test.each<[ErrorCode, string]>([
  ['cancelled', 'cancelled'],
  ['locked', 'blocked'],
  ['drifted', 'blocked'],
  ['connection-lost', 'unreachable'],
  ['auth-failed', 'unreachable'],
  ['host-key-changed', 'unreachable'],
  ['change-failed', 'failed'],
  ['not-converged', 'failed'],
  ['become-failed', 'failed'],
  ['internal', 'failed'],
])('a host that ended with %s is %s', (code, outcome) => expect(outcomeOf(code)).toBe(outcome))

test('an error travels as plain data, its cause stays at home', () => {
  const error = new DroverError({
    code: 'drifted',
    message: 'm',
    remedy: 'r',
    step: 's',
    detail: 'd',
    host: 'h',
    cause: new Error('x'),
  })
  expect(errorReport(error)).toEqual({ code: 'drifted', message: 'm', remedy: 'r', step: 's', detail: 'd' })
  expect(errorReport(new DroverError({ code: 'drifted', message: 'm', remedy: 'r' }))).toEqual({
    code: 'drifted',
    message: 'm',
    remedy: 'r',
  })
})
