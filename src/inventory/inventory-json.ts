import type { Group, Host, Inventory, Vars } from './host.ts'
import { withoutUrlSecretsIn } from './shown-urls.ts'

export interface InventoryJson {
  readonly sources: readonly string[]
  readonly hosts: readonly HostJson[]
  readonly groups: readonly Group[]
}

type HostJson = Omit<Host, 'jump' | 'given'> & { readonly jump: readonly string[] }

/**
 * Plain data for `inventory list --output json`; a hop is its name, not the whole host again. Of URLs in variables it has
 * what may be shown, so it is nothing to run with.
 */
export const inventoryJson = ({ sources, hosts, groups }: Inventory): InventoryJson => ({
  sources,
  hosts: hosts.map(({ given: _, ...host }) => ({ ...shown(host), jump: host.jump.map((hop) => hop.name) })),
  groups: groups.map(shown),
})

const shown = <T extends { readonly vars: Vars }>(holder: T): T => ({
  ...holder,
  vars: withoutUrlSecretsIn(holder.vars) as Vars,
})
