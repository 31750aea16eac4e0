import { needsSudo } from '../inventory/become.ts'
import type { Host } from '../inventory/host.ts'
import type { Become } from '../transport/become.ts'

/** How root is had on each host. */
export const becomeOf = (host: Host): Become | null =>
  needsSudo(host) ? { method: host.becomeMethod ?? 'sudo' } : null
