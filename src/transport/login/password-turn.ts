import type { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import { refusedElsewhere } from './login-errors.ts'
import type { PasswordGates, PasswordRefusal, PasswordTry, PasswordVerdict } from './password-gate.ts'

/** The part of one login in what hosts say to a password. */
export interface PasswordTurn {
  /** Waits for this host's turn; false: the password is not to be sent, and the login has been stopped. */
  enter(): Promise<boolean>
  /** Why it was not sent. */
  refusal(): DroverError | undefined
  end(verdict: PasswordVerdict): void
}

export const passwordTurn = (
  { passwordGates }: { readonly passwordGates?: PasswordGates },
  host: Host,
  password: Secret,
  stop: () => void,
): PasswordTurn | undefined => {
  const gate = passwordGates?.(host.user, password)
  if (gate === undefined) return undefined
  const over = new AbortController()
  let tell: PasswordTry | undefined
  let refused: PasswordRefusal | undefined
  return {
    enter: async () => {
      const entered = await gate.enter(host, over.signal)
      if (typeof entered === 'function') {
        tell = entered
        return true
      }
      refused = entered
      stop()
      return false
    },
    refusal: () => refused && refusedElsewhere(host, refused.refusedBy),
    end: (verdict) => {
      tell?.(verdict)
      over.abort()
    },
  }
}
