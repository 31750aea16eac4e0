import type { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { Ask } from './ask.ts'
import { type AuthAttempt, createAuthAttempt } from './auth-handler.ts'
import type { Credentials } from './credentials.ts'
import { refusedElsewhere } from './login-errors.ts'
import { byPassword, LoginMemory, loginOrder } from './login-order.ts'
import { createPasswordGates, type PasswordGates } from './password-gate.ts'

export interface LoginsOptions {
  readonly passwordOf?: ((host: Host) => Secret | undefined) | undefined
  readonly ask?: Ask | undefined
  readonly passwordGates?: PasswordGates | undefined
}

/** All there is to log in with at one host. */
export interface Login {
  /** Why it is not worth a connection. */
  refusal(): DroverError | undefined
  attempt(): AuthAttempt
  /** It let us in: the next host begins with the same. */
  remember(attempt: AuthAttempt): void
}

/** The logins of one run, which learn from each other. */
export const createLogins = ({
  passwordOf,
  ask,
  ...options
}: LoginsOptions): ((host: Host, found: Credentials) => Login) => {
  const memory = new LoginMemory()
  const gateOf = options.passwordGates ?? createPasswordGates()
  return (host, { usable, unusable }) => {
    const secret = passwordOf?.(host)
    const password = secret && { secret, gate: gateOf(host.user, secret) }
    return {
      refusal: () => {
        const refusal = usable.length === 0 ? password?.gate.refusalOf(host) : undefined
        return refusal && refusedElsewhere(host, refusal.refusedBy)
      },
      attempt: () => {
        const last = memory.recall(host.user, usable)
        const { offers, left } = loginOrder({ credentials: usable, hasPassword: password !== undefined, last })
        const noRoom = left.map(({ label }) => `${label}: a server takes no more than six attempts`)
        return createAuthAttempt({ host, offers, password, ask, notOffered: [...unusable, ...noRoom] })
      },
      remember: ({ last }) => {
        if (last === undefined) return
        memory.remember(host.user, usable, last === 'password' ? byPassword : last.label)
      },
    }
  }
}
