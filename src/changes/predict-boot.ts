import type { HostState } from '../facts/state.ts'
import type { UnitState } from '../facts/unit.ts'
import { Unknown } from '../facts/unknown.ts'
import { reloaded } from './predict-unit-files.ts'
import { spoiltUnit, unknownRun, withUnknownEntries } from './spoil.ts'

/** What no boot keeps, or what a boot may clear. A path below a link to one of these has it as its real place. */
const untilBoot = /^\/(run|tmp|dev|proc|sys)(\/|$)/

/**
 * What lies on disk stays, and systemd reads its units from there anew, so nothing is owed any more. What runs, what
 * listens and what commands say is for the boot to make.
 */
export const withBoot = (state: HostState): HostState => {
  const unknown = new Unknown('reboot')
  const all = <K, V>(map: ReadonlyMap<K, V>): ReadonlyMap<K, V | Unknown> =>
    new Map([...map].map(([key]) => [key, unknown]))
  return {
    ...state,
    rebooted: true,
    self: { ...state.self, lease: null, applying: null, owed: [] },
    units: new Map(
      [...reloaded(state).units].map(([name, unit]) => [
        name,
        isFromRun(unit) ? spoiltUnit(unit, unknown) : unknownRun(unit, unknown),
      ]),
    ),
    tree: {
      nodes: new Map(
        [...state.tree.nodes].map(([path, node]) => {
          if (!untilBoot.test(path)) return [path, node]
          return [path, atTop.test(path) ? withUnknownEntries(node, unknown) : unknown]
        }),
      ),
    },
    ports: all(state.ports),
    commands: all(state.commands),
    probes: all(state.probes),
  }
}

/** The directory itself is there after every boot. */
const atTop = /^\/[a-z]+$/

/** A unit, or a part of it, that was made for this boot alone. */
const isFromRun = ({ properties: { FragmentPath, DropInPaths } }: UnitState): boolean =>
  [FragmentPath, DropInPaths].some((paths) => typeof paths === 'string' && /(^|\s)\/run\//.test(paths))
