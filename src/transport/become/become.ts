import type { BecomeMethod } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { PasswordGate } from '../login/password-gate.ts'

/** How root rights are had on a host. Without a password nothing is ever typed, and a host that asks for one refuses. */
export interface Become {
  readonly method: BecomeMethod
  readonly password?: Secret
  /** Where a password is shared: until it was right somewhere, one host at a time tries it. */
  readonly gate?: PasswordGate
}

/**
 * The password that is given to whoever asks as we told him to. doas asks on the terminal and in its own words, so
 * nothing tells its question from anybody else's: it gets none.
 */
export const answerOf = (become: Become | null): Secret | undefined =>
  become?.method === 'sudo' ? become.password : undefined
