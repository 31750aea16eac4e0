import type { Finding } from '../task.ts'

/** What was looked at and what was seen there. */
interface Seen {
  readonly check: string
  readonly target: string
  readonly message: string
}

export const fine = (seen: Seen): Finding => ({ ...seen, severity: 'ok', ignored: false })
export const warning = (seen: Seen & { readonly remedy: string }): Finding => ({
  ...seen,
  severity: 'warning',
  ignored: false,
})
export const fault = (seen: Seen & { readonly remedy: string }): Finding => ({
  ...seen,
  severity: 'error',
  ignored: false,
})
