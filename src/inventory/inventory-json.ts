import type { Group, Host, Inventory } from './host.ts'

export interface InventoryJson {
  readonly sources: readonly string[]
  readonly hosts: readonly HostJson[]
  readonly groups: readonly Group[]
}

type HostJson = Omit<Host, 'jump' | 'given'> & { readonly jump: readonly string[] }

/** Plain data for `inventory list --output json`; a hop is its name, not the whole host again. */
export const inventoryJson = ({ sources, hosts, groups }: Inventory): InventoryJson => ({
  sources,
  hosts: hosts.map(({ given: _, ...host }) => ({ ...host, jump: host.jump.map((hop) => hop.name) })),
  groups,
})
