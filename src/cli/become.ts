import { needsSudo } from '../inventory/become.ts'
import type { Host } from '../inventory/host.ts'
import type { Become } from '../transport/become/become.ts'
import { createPasswordGates } from '../transport/login/password-gate.ts'
import type { Passwords } from './passwords.ts'

/** How root is had on each host. */
export const becomeWith = ({
  becomePasswordOf,
}: Pick<Passwords, 'becomePasswordOf'>): ((host: Host) => Become | null) => {
  const gates = createPasswordGates()
  return (host) => {
    if (!needsSudo(host)) return null
    const password = becomePasswordOf(host)
    const method = host.becomeMethod ?? 'sudo'
    return password === undefined ? { method } : { method, password, gate: gates(host.user, password) }
  }
}
