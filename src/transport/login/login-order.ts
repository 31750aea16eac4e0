import type { Credential } from './credentials.ts'

// Servers end the connection at the sixth failure, and from OpenSSH 9.8 on penalise the address for each. Where there
// is a password it takes up to two of them: one by each of the two methods that may ask for it.
const maxKeys = 5
const maxKeysBesidePassword = 4

/** What a login by password is called where keys have labels. */
export const byPassword = 'the password'

/** What let the last host in that was given the same to choose from. */
export class LoginMemory {
  readonly #labels = new Map<string, string>()

  remember(user: string, credentials: readonly Credential[], label: string): void {
    this.#labels.set(keyOf(user, credentials), label)
  }

  recall(user: string, credentials: readonly Credential[]): string | undefined {
    return this.#labels.get(keyOf(user, credentials))
  }
}

const keyOf = (user: string, credentials: readonly Credential[]): string =>
  JSON.stringify([user, ...credentials.map(({ label }) => label)])

export interface LoginOrder {
  readonly credentials: readonly Credential[]
  readonly hasPassword: boolean
  /** The label of the one that worked last. */
  readonly last?: string | undefined
}

/** Which keys are offered and in which order, and which there is no room for. */
export const loginOrder = ({
  credentials,
  hasPassword,
  last,
}: LoginOrder): { offers: readonly Credential[]; left: readonly Credential[] } => {
  // Where the password was it, keys that nobody named would only use up attempts before it.
  const wanted = last === byPassword ? credentials.filter(({ isConfigured }) => isConfigured) : credentials
  const first = wanted.filter(({ label }) => label === last)
  const order = [...first, ...wanted.filter(({ label }) => label !== last)]
  const room = hasPassword ? maxKeysBesidePassword : maxKeys
  return { offers: order.slice(0, room), left: order.slice(room) }
}
