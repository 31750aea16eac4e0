import type { HostState } from '../facts/state.ts'
import { nameOf, parentOf } from '../facts/tree.ts'
import type { UnitModel, UnitProperty, UnitState } from '../facts/unit.ts'
import { type Known, Unknown } from '../facts/unknown.ts'
import type { Change } from './change.ts'
import { unknownUnit } from './spoil.ts'

type SystemctlChange = Extract<Change, { kind: 'systemctl' }>
type Units = Map<string, UnitState>

const unitDirectories = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/lib/systemd/system',
  '/usr/local/lib/systemd/system',
]

/** Units that a file makes or changes: by its own name, by its drop-in directory, by a `.wants` link. */
const unitsOfFile = (path: string): string[] => {
  const directory = parentOf(path)
  if (unitDirectories.includes(directory)) return [nameOf(path).replace(/\.(d|wants|requires)$/, '')]
  if (!unitDirectories.includes(parentOf(directory))) return []
  const match = /^(.+)\.(d|wants|requires)$/.exec(nameOf(directory))
  if (match === null) return []
  return match[2] === 'd' ? [match[1] as string] : [match[1] as string, nameOf(path)]
}

/** A unit file is on disk now; systemd knows of it after the next reload. */
export const withUnitFile = (state: HostState, path: string, model?: UnitModel): HostState => {
  const units: Units = new Map(state.units)
  for (const name of unitsOfFile(path)) {
    const unit = units.get(name)
    if (unit !== undefined)
      units.set(name, { ...unit, pending: [...(unit.pending ?? []), model?.unit === name ? model : 'unseen'] })
  }
  return { ...state, units }
}

export const withVerb = (state: HostState, change: SystemctlChange): HostState => {
  if (change.verb === 'daemon-reload') return reloaded(state)
  const units: Units = new Map(state.units)
  const unit = units.get(change.unit)
  if (unit === undefined) return state
  switch (change.verb) {
    case 'start':
      start(units, change.unit, `start of ${change.unit}`)
      return { ...state, units }
    case 'restart':
      for (const name of [change.unit, ...propagation(state.units, change)]) {
        const reached = units.get(name)
        if (name === change.unit || (reached !== undefined && isUp(reached)))
          start(units, name, `restart of ${change.unit}`)
      }
      return { ...state, units }
    case 'stop':
      for (const name of [change.unit, ...propagation(state.units, change)]) {
        const reached = units.get(name)
        if (reached !== undefined && !isDown(reached)) units.set(name, stopped(reached))
      }
      return { ...state, units }
    case 'enable':
    case 'disable':
      return enablement(reloaded(state), change.unit, change.verb)
    case 'reset-failed':
      units.set(change.unit, {
        ...withValues(
          unit,
          unit.properties.ActiveState === 'failed'
            ? { ActiveState: 'inactive', SubState: 'dead', Result: 'success' }
            : {},
        ),
        ...(unit.starts !== undefined && { starts: 0 }),
      })
      return { ...state, units }
  }
}

/**
 * Units that stop or restart along, and those that do so for their sake in turn: a verb that reaches one nobody
 * asked about cannot be predicted. A restart passes by what does not run.
 */
export const propagation = (
  units: ReadonlyMap<string, UnitState>,
  { verb, unit }: Extract<SystemctlChange, { unit: string }>,
): string[] => {
  const reached = new Set([unit])
  for (const name of reached) {
    const next = units.get(name)
    if (next === undefined || (name !== unit && verb === 'restart' && isDown(next))) continue
    for (const property of ['ConsistsOf', 'RequiredBy', 'BoundBy'] as const) {
      for (const more of words(next.properties[property])) reached.add(more)
    }
  }
  reached.delete(unit)
  return [...reached]
}

const words = (value: Known<string>): string[] =>
  value instanceof Unknown ? [] : value.split(/\s+/).filter((word) => word !== '')

const isUp = (unit: UnitState): boolean => unit.properties.ActiveState === 'active'
const isDown = ({ properties: { ActiveState } }: UnitState): boolean =>
  ActiveState === 'inactive' || ActiveState === 'failed'

const start = (units: Units, name: string, why: string): void => {
  const unit = units.get(name)
  if (unit === undefined || unit.properties.LoadState === 'masked' || unit.properties.LoadState === 'not-found') return
  const unknown = new Unknown(why)
  const running = unknownUnit(
    unit,
    ['SubState', 'MainPID', 'InvocationID', 'ActiveEnterTimestampMonotonic', 'Job', 'ExecMainStatus'],
    unknown,
  )
  units.set(name, {
    ...withValues(running, { ActiveState: 'active', Result: 'success', NRestarts: '0' }),
    ...(unit.starts !== undefined && { starts: unit.starts instanceof Unknown ? unit.starts : unit.starts + 1 }),
  })
  // A start pulls in what is wanted and down; what is already active is satisfied and pulls nothing again.
  for (const property of ['Wants', 'Requires', 'BindsTo'] as const) {
    for (const wanted of words(unit.properties[property])) {
      const pulled = units.get(wanted)
      if (pulled !== undefined && !isUp(pulled)) start(units, wanted, why)
    }
  }
}

const stopped = (unit: UnitState): UnitState => ({
  ...withValues(unit, { ActiveState: 'inactive', SubState: 'dead', MainPID: '0', InvocationID: '', Job: '' }),
  exe: '',
})

const withValues = (unit: UnitState, values: Partial<Record<UnitProperty, Known<string>>>): UnitState => ({
  ...unit,
  properties: { ...unit.properties, ...values },
})

const reloaded = (state: HostState): HostState => ({
  ...state,
  units: new Map([...state.units].map(([name, unit]) => [name, loadPending(unit)])),
})

const fromFile: readonly UnitProperty[] = [
  'LoadState',
  'LoadError',
  'UnitFileState',
  'UnitFilePreset',
  'FragmentPath',
  'DropInPaths',
  'ExecStart',
  'Wants',
  'Requires',
  'BindsTo',
  'After',
  'WantedBy',
  'RequiredBy',
  'BoundBy',
  'ConsistsOf',
  'StartLimitIntervalUSec',
  'StartLimitBurst',
  'Type',
]

const loadPending = ({ pending = [], ...unit }: UnitState): UnitState =>
  pending.reduce<UnitState>(
    (loaded, model) => {
      if (model === 'unseen') return { ...unknownUnit(loaded, fromFile, new Unknown('daemon-reload')), exe: loaded.exe }
      const added = Object.entries(model.adds ?? {}).map(([property, more]) => {
        const before = loaded.properties[property as UnitProperty]
        return [property, before instanceof Unknown ? before : [...new Set([...words(before), ...more])].join(' ')]
      })
      return withValues(loaded, { ...model.sets, ...Object.fromEntries(added) })
    },
    { ...unit, properties: { ...unit.properties, NeedDaemonReload: 'no' } },
  )

/** The links an enablement makes are the unit's own business: every asked `.wants` of it is unknown. */
const enablement = (state: HostState, name: string, verb: 'enable' | 'disable'): HostState => {
  const unknown = new Unknown(`systemctl ${verb} ${name}`)
  const nodes = new Map(state.tree.nodes)
  for (const [path, node] of nodes) {
    if (/\.(wants|requires)$/.test(parentOf(path)) && nameOf(path) === name) nodes.set(path, unknown)
    else if (
      /\.(wants|requires)$/.test(path) &&
      !(node instanceof Unknown) &&
      node.type === 'directory' &&
      node.entries !== undefined
    ) {
      nodes.set(path, { ...node, entries: unknown })
    }
  }
  // Which targets the unit's [Install] names is not a fact, so no target's list is sure any more.
  const units: Units = new Map(
    [...state.units].map(([other, unit]) => [
      other,
      other.endsWith('.target') ? withValues(unit, { Wants: unknown, Requires: unknown }) : unit,
    ]),
  )
  const unit = units.get(name) as UnitState
  units.set(
    name,
    withValues(unit, {
      WantedBy: unknown,
      RequiredBy: unknown,
      UnitFileState: verb === 'enable' ? 'enabled' : 'disabled',
    }),
  )
  return { ...state, tree: { nodes }, units }
}
