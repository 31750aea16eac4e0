import type { DroverError, ErrorCode } from '../errors.ts'
import type { ErrorReport, Outcome } from './events.ts'

const unreachable: readonly ErrorCode[] = [
  'resolve-failed',
  'connect-failed',
  'connect-timeout',
  'handshake-failed',
  'host-key-unknown',
  'host-key-changed',
  'host-key-revoked',
  'auth-failed',
  'channel-failed',
  'connection-lost',
]

export const outcomeOf = (code: ErrorCode): Outcome => {
  if (code === 'cancelled') return 'cancelled'
  if (['locked', 'drifted', 'same-machine', 'activation-locked'].includes(code)) return 'blocked'
  if (code === 'rolled-back') return 'rolled-back'
  return unreachable.includes(code) ? 'unreachable' : 'failed'
}

export const errorReport = (error: DroverError): ErrorReport => ({
  code: error.code,
  message: error.message,
  remedy: error.remedy,
  ...(error.step !== undefined && { step: error.step }),
  ...(error.detail !== undefined && { detail: error.detail }),
})
