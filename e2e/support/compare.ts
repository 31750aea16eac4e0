import type { Node } from '../../src/facts/node.ts'
import type { HostState } from '../../src/facts/state.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { type UnitProperty, unitProperties } from '../../src/facts/unit.ts'
import { Unknown } from '../../src/facts/unknown.ts'

/** Nobody claims to predict these: they count, they time, or they say what something is doing this very moment. */
const unpredicted: readonly UnitProperty[] = [
  'Job',
  'NeedDaemonReload',
  'ActiveEnterTimestampMonotonic',
  'NRestarts',
  'ExecMainStatus',
  'SubState',
  'UnitFileState',
  'DropInPaths',
]

/** Where a prediction claims to know something and the host says otherwise. */
export const differences = (predicted: HostState, seen: HostState, paths: readonly string[]): string[] => [
  ...paths.flatMap((path) => nodeDifference(path, lookUp(predicted.tree, path), lookUp(seen.tree, path))),
  ...[...predicted.units].flatMap(([name, unit]) =>
    unitProperties
      .filter((property) => !unpredicted.includes(property))
      .flatMap((property) => {
        const claimed = unit.properties[property]
        const real = seen.units.get(name)?.properties[property]
        return claimed instanceof Unknown || sorted(claimed) === sorted(real)
          ? []
          : [`${name} ${property}: predicted '${claimed}', is '${String(real)}'`]
      }),
  ),
]

// The order of a list property is systemd's own.
const sorted = (value: unknown): string => String(value).split(' ').sort().join(' ')

const nodeDifference = (
  path: string,
  predicted: Node | Unknown | undefined,
  seen: Node | Unknown | undefined,
): string[] => {
  if (predicted instanceof Unknown) return []
  const claimed = fields(predicted)
  const real = fields(seen)
  return Object.entries(claimed).flatMap(([field, value]) =>
    JSON.stringify(value) === JSON.stringify(real[field])
      ? []
      : [`${path} ${field}: predicted ${JSON.stringify(value)}, is ${JSON.stringify(real[field])}`],
  )
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
