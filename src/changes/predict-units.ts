import type { HostState } from '../facts/state.ts'
import { nameOf, parentOf } from '../facts/tree.ts'
import type { UnitProperty, UnitState } from '../facts/unit.ts'
import { type Known, known, Unknown } from '../facts/unknown.ts'
import type { Change } from './change.ts'
import { reloaded, wordsOf } from './predict-unit-files.ts'
import { unknownRun, unknownUnit, withValues } from './spoil.ts'

type SystemctlChange = Extract<Change, { kind: 'systemctl' }>
type UnitChange = Extract<SystemctlChange, { unit: string }>
type Units = Map<string, UnitState>

export const withVerb = (state: HostState, change: SystemctlChange): HostState => {
  if (change.verb === 'daemon-reload') return reloaded(state)
  const units: Units = new Map(state.units)
  const unit = units.get(change.unit)
  if (unit === undefined) return state
  switch (change.verb) {
    case 'start':
    case 'restart':
    case 'stop': {
      const { starts, stops, mayStop } = reach(state.units, change, known)
      const why = `${change.verb} of ${change.unit}`
      for (const name of stops) stop(units, name, why)
      for (const name of mayStop) mayBeStopped(units, name, why)
      for (const name of starts) (name === change.unit ? start : restart)(units, name, why)
      return { ...state, units }
    }
    case 'enable':
    case 'disable':
      return enablement(reloaded(state), change.unit, change.verb)
    case 'reset-failed':
      units.set(change.unit, resetFailed(unit))
      return { ...state, units }
  }
}

/**
 * Units that stop or restart along, and those that do so for their sake in turn: a verb that reaches one nobody
 * asked about cannot be predicted. Where it is not known whom a verb reaches, these are the ones that are; to
 * predict the verb then reads what is unknown, and so ends the segment.
 */
export const propagation = (units: ReadonlyMap<string, UnitState>, change: UnitChange): string[] => {
  const { starts, stops, mayStop } = reach(units, change, (_, value) => (value instanceof Unknown ? '' : value))
  const reached = new Set([...starts, ...stops, ...mayStop])
  reached.delete(change.unit)
  return [...reached]
}

type Read = (what: string, value: Known<string>) => string

/** systemd's UNIT_ATOM_PROPAGATE_RESTART and UNIT_ATOM_PROPAGATE_STOP. */
const restartsAlong = ['ConsistsOf', 'RequiredBy', 'BoundBy', 'RequisiteOf'] as const
const stopPropagates = ['PropagatesStopTo'] as const
const stopsAlong = [...restartsAlong, ...stopPropagates] as const
const pullsIn = ['Wants', 'Requires', 'BindsTo'] as const
const conflicts = ['Conflicts', 'ConflictedBy'] as const

/** Nearly every unit conflicts with these; while one is active, the host goes down or is not up yet. */
const notWhileUp = ['shutdown.target', 'umount.target', 'soft-reboot.target', 'initrd-switch-root.target']

/**
 * Whom a verb starts or, where they run, restarts; and whom it stops. Systemd drops the job of what does not run,
 * and with it those that are for its sake alone, but never that of the unit itself. A restart stops what its unit
 * propagates a stop to under systemd 257, and not under 252. All as measured by e2e/core/prediction.
 */
const reach = (units: ReadonlyMap<string, UnitState>, { verb, unit }: UnitChange, read: Read) => {
  const listed = (name: string, properties: readonly UnitProperty[]): string[] => {
    const from = units.get(name)?.properties
    return from === undefined
      ? []
      : properties.flatMap((property) => wordsOf(read(`${property} of ${name}`, from[property])))
  }
  const isPassedBy = (name: string): boolean => name !== unit && isDown(units.get(name))
  const closed = (names: readonly string[], properties: readonly UnitProperty[]): Set<string> => {
    const all = new Set(names)
    for (const name of all) if (!isPassedBy(name)) for (const more of listed(name, properties)) all.add(more)
    return all
  }
  if (verb === 'stop')
    return { starts: new Set<string>(), stops: closed([unit], stopsAlong), mayStop: new Set<string>() }
  const starts = verb === 'restart' ? closed([unit], restartsAlong) : new Set([unit])
  const running = [...starts].filter((name) => !isPassedBy(name))
  const stopped = pulledIn(units, running)
    .flatMap((name) => listed(name, conflicts))
    .filter((name) => !notWhileUp.includes(name) && !isDown(units.get(name)))
  const told = verb === 'restart' ? running.flatMap((name) => listed(name, stopPropagates)) : []
  return { starts, stops: closed(stopped, stopsAlong), mayStop: closed(told, stopsAlong) }
}

/** With what they want and is down, as far as it is known. */
const pulledIn = (units: ReadonlyMap<string, UnitState>, names: readonly string[]): string[] => {
  const all = new Set(names)
  for (const name of all) {
    for (const wanted of wantsOf(units.get(name)).known) if (isStartable(units.get(wanted))) all.add(wanted)
  }
  return [...all]
}

const wantsOf = (unit: UnitState | undefined): { known: string[]; isSure: boolean } => {
  const values = pullsIn.map((property) => unit?.properties[property] ?? '')
  return {
    known: values.flatMap((value) => (value instanceof Unknown ? [] : wordsOf(value))),
    isSure: !values.some((value) => value instanceof Unknown),
  }
}

const isUp = (unit: UnitState | undefined): boolean => unit?.properties.ActiveState === 'active'
const isDown = (unit: UnitState | undefined): boolean =>
  unit?.properties.ActiveState === 'inactive' || unit?.properties.ActiveState === 'failed'
const isLoadable = ({ properties: { LoadState } }: UnitState): boolean =>
  LoadState !== 'masked' && LoadState !== 'not-found'
const isStartable = (unit: UnitState | undefined): unit is UnitState =>
  unit !== undefined && !isUp(unit) && isLoadable(unit)

const start = (units: Units, name: string, why: string): void => {
  const unit = units.get(name)
  if (unit === undefined || !isLoadable(unit)) return
  const unknown = new Unknown(why)
  units.set(name, {
    ...withValues(unknownUnit(unit, ['SubState', 'InvocationID', 'ActiveEnterTimestampMonotonic', 'Job'], unknown), {
      ActiveState: 'active',
      ...shown(unit, { MainPID: unknown, ExecMainStatus: unknown, Result: 'success', NRestarts: '0' }),
    }),
    ...(unit.starts !== undefined && { starts: unit.starts instanceof Unknown ? unit.starts : unit.starts + 1 }),
  })
  // A start pulls in what is wanted and down; what is already active is satisfied and pulls nothing again.
  const wants = wantsOf(unit)
  for (const wanted of wants.known) if (isStartable(units.get(wanted))) start(units, wanted, why)
  if (wants.isSure) return
  for (const [other, down] of units) if (isStartable(down)) units.set(other, unknownRun(down, unknown))
}

const restart = (units: Units, name: string, why: string): void => {
  const unit = units.get(name)
  const state = unit?.properties.ActiveState
  if (unit === undefined || isDown(unit) || state === 'deactivating') return
  if (state instanceof Unknown) units.set(name, unknownRun(unit, new Unknown(why)))
  else start(units, name, why)
}

const stop = (units: Units, name: string, why: string): void => {
  const unit = units.get(name)
  if (unit === undefined || isDown(unit)) return
  if (unit.properties.ActiveState instanceof Unknown) {
    mayBeStopped(units, name, why)
    return
  }
  const unknown = new Unknown(why)
  units.set(name, {
    ...withValues(unit, {
      ActiveState: 'inactive',
      SubState: 'dead',
      // It is forgotten together with the unit, where nothing else keeps that loaded.
      InvocationID: unknown,
      Job: '',
      ...shown(unit, { MainPID: '0', ExecMainStatus: unknown }),
    }),
    exe: '',
  })
}

/** Its starts stay counted: the journal, where they are read, does not forget them. */
const resetFailed = (unit: UnitState): UnitState => {
  const unknown = new Unknown('reset-failed')
  const counted = withValues(unit, shown(unit, { NRestarts: unknown }))
  if (unit.properties.ActiveState !== 'failed') return counted
  return withValues(counted, {
    ActiveState: 'inactive',
    SubState: 'dead',
    InvocationID: unknown,
    ...shown(unit, { Result: 'success', ExecMainStatus: unknown }),
  })
}

const mayBeStopped = (units: Units, name: string, why: string): void => {
  const unit = units.get(name)
  if (unit !== undefined && !isDown(unit)) units.set(name, unknownRun(unit, new Unknown(why)))
}

/** A target has no process and no result: what it does not show, it will not show. */
const shown = (unit: UnitState, values: Partial<Record<UnitProperty, Known<string>>>) =>
  Object.fromEntries(Object.entries(values).filter(([property]) => unit.properties[property as UnitProperty] !== ''))

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
      other.endsWith('.target') ? withValues(unit, { Wants: unknown, Requires: unknown, After: unknown }) : unit,
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
