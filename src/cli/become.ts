import { needsSudo } from '../inventory/become.ts'
import type { Host } from '../inventory/host.ts'
import type { Become } from '../transport/become/become.ts'
import type { Passwords } from './passwords.ts'

/** How root is had on each host. */
export const becomeWith =
  ({ becomePasswordOf }: Pick<Passwords, 'becomePasswordOf'>) =>
  (host: Host): Become | null => {
    if (!needsSudo(host)) return null
    const password = becomePasswordOf(host)
    return { method: host.becomeMethod ?? 'sudo', ...(password !== undefined && { password }) }
  }
