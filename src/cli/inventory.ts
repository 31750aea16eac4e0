import { needsSudo } from '../inventory/become.ts'
import { graph } from '../inventory/graph.ts'
import type { Host, Inventory } from '../inventory/host.ts'
import { inventoryJson } from '../inventory/inventory-json.ts'
import { selectHosts } from '../inventory/patterns.ts'
import { printable } from '../printable.ts'
import { jsonText } from '../report/json-text.ts'
import { counted } from '../report/paint.ts'
import { paintFor } from './colour.ts'
import type { CliContext } from './context.ts'
import { type InventoryOptions, readSources } from './sources.ts'
import { fillBySshConfig } from './ssh-config.ts'
import { tableLines } from './table.ts'

export interface InventoryVerbOptions extends InventoryOptions {
  /** As ssh_config completes them. */
  readonly resolved?: true
  readonly sshConfig?: string
  readonly output: 'text' | 'json'
}

/** `drover inventory list|graph|check`: what was read, without going to any host. */
export const inventory = async (
  context: CliContext,
  verb: 'list' | 'graph' | 'check',
  options: InventoryVerbOptions,
): Promise<number> => {
  const { inventory: whole } = readSources(context, options)
  const chosen =
    options.limit === undefined ? whole : narrowed(whole, selectHosts(whole, options.limit, { cwd: context.cwd }))
  const shown = options.resolved ? { ...chosen, hosts: await resolved(context, chosen.hosts, options) } : chosen
  context.stdout.write(
    options.output === 'json'
      ? jsonText(verb === 'check' ? checked(shown) : inventoryJson(shown))
      : texts[verb](shown, context),
  )
  return 0
}

const resolved = (context: CliContext, hosts: readonly Host[], { sshConfig }: InventoryVerbOptions) =>
  fillBySshConfig(context, hosts, {
    file: sshConfig,
    user: undefined,
    reached: (host) => host,
    tell: (message) => context.stderr.write(`drover: ${printable(message)}\n`),
  })

/** What the limit leaves; groups stay, so that it can be seen which of them have no host now. */
const narrowed = (whole: Inventory, hosts: readonly Host[]): Inventory => {
  const names = new Set(hosts.map(({ name }) => name))
  return {
    ...whole,
    hosts,
    groups: whole.groups.map((group) => ({ ...group, hosts: group.hosts.filter((name) => names.has(name)) })),
  }
}

const checked = ({ hosts, groups, sources }: Inventory) => ({
  ok: true,
  sources,
  hosts: hosts.length,
  groups: groups.length,
})

const texts = {
  list: ({ hosts }: Inventory, context: CliContext): string => {
    const look = {
      paint: paintFor(context, context.stdout),
      width: context.stdout.isTTY ? (context.stdout.columns ?? null) : null,
    }
    const header = ['HOST', 'ADDRESS', 'PORT', 'USER', 'ROOT', 'JUMP', 'GROUPS']
    return joined(
      tableLines(
        header,
        hosts.map((host) => rowOf(host).map((text) => ({ text }))),
        look,
      ),
    )
  },
  graph: (shown: Inventory): string => graph(shown),
  check: ({ hosts, groups, sources }: Inventory): string =>
    joined([`ok: ${counted(hosts.length, 'host')} in ${counted(groups.length, 'group')}, from ${sources.join(', ')}`]),
} as const

const rowOf = (host: Host): readonly string[] => [
  host.name,
  host.address,
  String(host.port),
  host.user,
  needsSudo(host) ? 'sudo' : host.user === 'root' ? 'yes' : 'no',
  host.jump.map((hop) => hop.name).join(' > ') || '-',
  host.groups.filter((group) => group !== 'all').join(',') || '-',
]

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
