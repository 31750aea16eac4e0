import type { Node } from '../../src/facts/node.ts'
import type { HostState } from '../../src/facts/state.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { unitProperties } from '../../src/facts/unit.ts'
import { Unknown } from '../../src/facts/unknown.ts'

/** Where a prediction claims to know something and the host says otherwise. */
export const differences = (predicted: HostState, seen: HostState, paths: readonly string[]): string[] => [
  ...paths.flatMap((path) => nodeDifference(path, lookUp(predicted.tree, path), lookUp(seen.tree, path))),
  ...[...predicted.units].flatMap(([name, unit]) => {
    const real = seen.units.get(name)
    return [
      ...unitProperties.flatMap((property) =>
        difference(`${name} ${property}`, unit.properties[property], real?.properties[property], inOrder),
      ),
      ...difference(`${name} exe`, unit.exe, real?.exe),
      ...difference(`${name} starts`, unit.starts, real?.starts),
    ]
  }),
  ...(['packages', 'programs', 'commands', 'ports', 'probes'] as const).flatMap((kind) =>
    [...predicted[kind]].flatMap(([key, claimed]) =>
      difference(`${kind} ${key}`, claimed, (seen[kind] as ReadonlyMap<unknown, unknown>).get(key)),
    ),
  ),
]

const difference = (what: string, claimed: unknown, real: unknown, shown: (value: unknown) => string = asJson) =>
  claimed instanceof Unknown || shown(claimed) === shown(real)
    ? []
    : [`${what}: predicted ${shown(claimed)}, is ${shown(real)}`]

const asJson = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

// The order of a list property is systemd's own.
const inOrder = (value: unknown): string => `'${String(value).split(' ').sort().join(' ')}'`

const nodeDifference = (
  path: string,
  predicted: Node | Unknown | undefined,
  seen: Node | Unknown | undefined,
): string[] => {
  if (predicted instanceof Unknown) return []
  const claimed = fields(predicted)
  const real = fields(seen)
  return Object.entries(claimed).flatMap(([field, value]) => difference(`${path} ${field}`, value, real[field]))
}

/** What a node claims: inode and time are the host's, a name without a number (-1) claims no number. */
const fields = (node: Node | Unknown | undefined): Record<string, unknown> => {
  if (node === undefined || node instanceof Unknown) return { type: 'not known' }
  const all: Record<string, unknown> = { ...node }
  delete all.inode
  delete all.modifiedS
  for (const [key, value] of Object.entries(all)) {
    if (value === -1 || value instanceof Unknown) delete all[key]
    if (value instanceof Uint8Array) all[key] = Buffer.from(value).toString('latin1')
  }
  return all
}
