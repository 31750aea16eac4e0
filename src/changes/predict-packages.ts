import type { KnownNode } from '../facts/node.ts'
import type { HostState } from '../facts/state.ts'
import { unitProperties } from '../facts/unit.ts'
import { Unknown } from '../facts/unknown.ts'
import { unknownUnit, withUnknownEntries } from './spoil.ts'

const installsUnder = /^\/(usr|etc|lib|bin|sbin|var\/lib)(\/|$)/

/**
 * After an installation nobody knows the version that came, nor whether a preset or a script enabled the units
 * it brought. What was missing before may be there now.
 */
export const withPackages = (state: HostState, names: readonly string[]): HostState => {
  const unknown = new Unknown(`installing ${names.join(', ')}`)
  const missing = <K, V>(map: ReadonlyMap<K, V>): ReadonlyMap<K, V | Unknown> =>
    new Map([...map].map(([key, value]) => [key, value === null ? unknown : value]))
  const after = (node: KnownNode): KnownNode =>
    !(node instanceof Unknown) && node.type === 'absent' ? unknown : withUnknownEntries(node, unknown)
  return {
    ...state,
    packages: new Map(
      [...state.packages].map(([name, value]) => [name, names.includes(name) || value === null ? unknown : value]),
    ),
    programs: missing(state.programs),
    units: new Map(
      [...state.units].map(([name, unit]) => [
        name,
        unit.properties.LoadState === 'not-found'
          ? unknownUnit(unit, unitProperties, unknown)
          : unknownUnit(unit, ['UnitFileState'], unknown),
      ]),
    ),
    commands: new Map([...state.commands].map(([key]) => [key, unknown])),
    // What Debian installs it starts as well.
    ports: missing(state.ports),
    probes: new Map([...state.probes].map(([key]) => [key, unknown])),
    tree: {
      nodes: new Map(
        [...state.tree.nodes].map(([path, node]) => [path, installsUnder.test(path) ? after(node) : node]),
      ),
    },
  }
}
