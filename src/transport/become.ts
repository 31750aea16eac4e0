import type { BecomeMethod } from '../inventory/host.ts'
import type { Secret } from '../secret.ts'

/** How root rights are had on a host. Without a password nothing is ever typed, and a host that asks for one refuses. */
export interface Become {
  readonly method: BecomeMethod
  readonly password?: Secret
}
