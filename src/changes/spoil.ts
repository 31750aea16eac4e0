import type { KnownNode } from '../facts/node.ts'
import type { HostState } from '../facts/state.ts'
import { canonical, parentOf } from '../facts/tree.ts'
import { type UnitProperty, type UnitState, unitProperties } from '../facts/unit.ts'
import { type Known, Unknown } from '../facts/unknown.ts'

/** The state in which the fact with this key (fact.ts) is unknown. */
export const spoil = (state: HostState, key: string, why: string): HostState => {
  const unknown = new Unknown(why)
  const cut = key.indexOf(':')
  const name = key.slice(cut + 1)
  const set = <K, V>(map: ReadonlyMap<K, V>, at: K, value: V): ReadonlyMap<K, V> =>
    map.has(at) ? new Map(map).set(at, value) : map
  switch (key.slice(0, cut)) {
    case 'path': {
      const at = canonical(state.tree, name)
      return at instanceof Unknown ? state : { ...state, tree: { nodes: spoilTree(state.tree.nodes, at, unknown) } }
    }
    case 'unit': {
      const unit = state.units.get(name)
      return unit === undefined ? state : { ...state, units: new Map(state.units).set(name, spoiltUnit(unit, unknown)) }
    }
    case 'package':
      return { ...state, packages: set(state.packages, name, unknown) }
    case 'program':
      return { ...state, programs: set(state.programs, name, unknown) }
    case 'port':
      return { ...state, ports: set(state.ports, Number(name), unknown) }
    case 'command':
      return { ...state, commands: set(state.commands, key, unknown) }
    case 'probe':
      return { ...state, probes: set(state.probes, key, unknown) }
    default:
      throw new Error(`not a fact key: ${key}`)
  }
}

/** The path, all below it, and whether the directory above still lists it. */
const spoilTree = (
  nodes: ReadonlyMap<string, KnownNode>,
  at: string,
  unknown: Unknown,
): ReadonlyMap<string, KnownNode> => {
  const spoilt = new Map(nodes)
  for (const path of nodes.keys()) if (path === at || path.startsWith(`${at}/`)) spoilt.set(path, unknown)
  const above = nodes.get(parentOf(at))
  if (above !== undefined && parentOf(at) !== at) spoilt.set(parentOf(at), withUnknownEntries(above, unknown))
  return spoilt
}

export const withUnknownEntries = (node: KnownNode, unknown: Unknown): KnownNode =>
  node instanceof Unknown || node.type !== 'directory' || node.entries === undefined
    ? node
    : { ...node, entries: unknown }

export const spoiltUnit = (unit: UnitState, unknown: Unknown): UnitState => ({
  ...unknownUnit(unit, unitProperties, unknown),
  ...(unit.starts !== undefined && { starts: unknown }),
})

/** A unit of which these properties are not known any more; its process never is then. */
export const unknownUnit = (unit: UnitState, properties: readonly UnitProperty[], unknown: Unknown): UnitState => {
  const values: Record<UnitProperty, Known<string>> = { ...unit.properties }
  for (const property of properties) values[property] = unknown
  return { ...unit, properties: values, exe: unknown }
}

export const unknownRun = (unit: UnitState, unknown: Unknown): UnitState => ({
  ...unknownUnit(unit, ofItsRun, unknown),
  ...(unit.starts !== undefined && { starts: unknown }),
})

const ofItsRun: readonly UnitProperty[] = [
  'ActiveState',
  'SubState',
  'Result',
  'NRestarts',
  'MainPID',
  'InvocationID',
  'ActiveEnterTimestampMonotonic',
  'Job',
  'ExecMainStatus',
]

export const withValues = (unit: UnitState, values: Partial<Record<UnitProperty, Known<string>>>): UnitState => ({
  ...unit,
  properties: { ...unit.properties, ...values },
})
