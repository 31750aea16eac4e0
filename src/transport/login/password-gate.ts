import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'

/**
 * So many hosts, one after the other, may refuse a password that none has taken yet. One would be enough to notice a
 * slip of the finger, but then a single odd host would keep all others from being reached; directories lock an account
 * at three or more.
 */
const maxRefusals = 2

/** What became of a password at one host; `unknown`: the host has not said. */
export type PasswordVerdict = 'right' | 'wrong' | 'unknown'

/** Leave to send the password once. Has to be told what came of it; only the first word counts. */
export type PasswordTry = (verdict: PasswordVerdict) => void

/** Why the password is not sent: these hosts have refused it before. */
export interface PasswordRefusal {
  readonly refusedBy: readonly string[]
}

type Named = Pick<Host, 'name'>

/** One password of one user. Until it was right somewhere, one host at a time tries it. */
export class PasswordGate {
  readonly #refusedBy = new Set<string>()
  readonly #waiting = new Set<() => void>()
  #isRight = false
  #isBusy = false

  /** Why there is no use in going as far as the password, as far as is known now. */
  refusalOf(host: Named): PasswordRefusal | undefined {
    // A host that has refused it is not asked again, whatever others say.
    if (this.#refusedBy.has(host.name)) return { refusedBy: [host.name] }
    return !this.#isRight && this.#refusedBy.size >= maxRefusals ? { refusedBy: [...this.#refusedBy] } : undefined
  }

  /** Resolves when it is this host's turn; rejects with the signal's reason. */
  async enter(host: Named, signal: AbortSignal): Promise<PasswordTry | PasswordRefusal> {
    for (;;) {
      signal.throwIfAborted()
      const refusal = this.refusalOf(host)
      if (refusal !== undefined) return refusal
      if (this.#isRight) return this.#tryAt(host)
      if (!this.#isBusy) {
        this.#isBusy = true
        return this.#tryAt(host)
      }
      await this.#change(signal)
    }
  }

  #tryAt(host: Named): PasswordTry {
    let isOpen = true
    return (verdict) => {
      if (!isOpen) return
      isOpen = false
      this.#isBusy = false
      if (verdict === 'right') this.#isRight = true
      if (verdict === 'wrong') this.#refusedBy.add(host.name)
      for (const wake of this.#waiting) wake()
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

/** The gate of a user and password. */
export type PasswordGates = (user: string, password: Secret) => PasswordGate

/** A gate for each user and password of a run. */
export const createPasswordGates = (): PasswordGates => {
  const gates = new Map<string, PasswordGate>()
  return (user, password) => {
    const key = JSON.stringify([user, password.reveal()])
    const gate = gates.get(key) ?? new PasswordGate()
    gates.set(key, gate)
    return gate
  }
}
