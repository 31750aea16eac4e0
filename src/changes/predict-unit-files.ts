import type { HostState } from '../facts/state.ts'
import { nameOf, parentOf } from '../facts/tree.ts'
import { type UnitModel, type UnitProperty, type UnitState, unitDirectories } from '../facts/unit.ts'
import { type Known, Unknown } from '../facts/unknown.ts'
import { unknownUnit, withValues } from './spoil.ts'

type Pending = NonNullable<UnitState['pending']>[number]

/** A unit file is on disk now; systemd knows of it after the next reload. */
export const withUnitFile = (state: HostState, path: string, model?: UnitModel): HostState => {
  const isOf = ownersOf(path)
  if (isOf === null) return state
  const unknown = new Unknown(`a change of ${path}`)
  const units = [...state.units].map(([name, unit]): [string, UnitState] => {
    const { Id } = unit.properties
    const isOwn = isOf(name) || (typeof Id === 'string' && isOf(Id))
    // What a file with a model does to other units, the model says.
    if (!isOwn && model !== undefined) return [name, unit]
    const more: Pending = isOwn ? (model?.unit === name ? model : 'unseen') : 'others'
    const pending = [...(unit.pending ?? []), more]
    return [name, { ...(isOwn ? withValues(unit, { NeedDaemonReload: unknown }) : unit), pending }]
  })
  return { ...state, units: new Map(units) }
}

/** Whether a unit is one that the file makes or changes; null where systemd looks for no files of units. */
const ownersOf = (path: string): ((unit: string) => boolean) | null => {
  const directory = parentOf(path)
  if (unitDirectories.some((place) => place === path || place.startsWith(`${path}/`))) return () => true
  if (isUnitDirectory(directory)) {
    const [, name = ''] = dropInDirectory.exec(nameOf(path)) ?? []
    return (unit) => fragmentNames(unit).includes(nameOf(path)) || dropInNames(unit).includes(name)
  }
  if (!isUnitDirectory(parentOf(directory))) return null
  const [, name, kind] = dropInDirectory.exec(nameOf(directory)) ?? []
  if (name === undefined) return null
  return (unit) => dropInNames(unit).includes(name) || (kind !== 'd' && fragmentNames(unit).includes(nameOf(path)))
}

const dropInDirectory = /^(.+)\.(d|wants|requires|upholds)$/
const isUnitDirectory = (path: string): boolean => unitDirectories.some((directory) => directory === path)

/** The file of `foo@x.service` may be its template's. */
const fragmentNames = (unit: string): string[] => {
  const template = unit.replace(/@[^@]+(\.[a-z]+)$/, '@$1')
  return template === unit ? [unit] : [unit, template]
}

/** Drop-ins are the unit's, its template's, those of each prefix up to a dash, and those of all units of its type. */
const dropInNames = (unit: string): string[] => {
  const [, prefix = '', instance = '', type = ''] = /^([^@]*)(@.*)?\.([a-z]+)$/.exec(unit) ?? []
  const prefixes = [...prefix.matchAll(/-/g)].map(({ index }) => prefix.slice(0, index + 1))
  return [...[prefix, ...prefixes].flatMap((start) => fragmentNames(`${start}${instance}.${type}`)), type]
}

export const reloaded = (state: HostState): HostState => {
  const units = new Map([...state.units].map(([name, unit]) => [name, loadPending(unit)]))
  // Systemd lists a dependency on both of its ends.
  for (const { pending = [] } of state.units.values()) {
    for (const model of pending) {
      if (typeof model === 'string') continue
      for (const [property, reverse] of bothEnds) {
        for (const name of model.adds?.[property] ?? []) {
          const other = units.get(name)
          if (other !== undefined) units.set(name, withWords(other, reverse, [model.unit]))
        }
      }
    }
  }
  return { ...state, units }
}

const bothEnds = [
  ['Wants', 'WantedBy'],
  ['Requires', 'RequiredBy'],
  ['BindsTo', 'BoundBy'],
] as const

/** What the files of other units may say of one. */
const fromOthers: readonly UnitProperty[] = [
  'After',
  'WantedBy',
  'RequiredBy',
  'BoundBy',
  'ConsistsOf',
  'RequisiteOf',
  'PropagatesStopTo',
  'ConflictedBy',
]

const fromFile: readonly UnitProperty[] = [
  ...fromOthers,
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
  'Conflicts',
  'StartLimitIntervalUSec',
  'StartLimitBurst',
  'Type',
]

const loadPending = ({ pending = [], ...unit }: UnitState): UnitState =>
  pending.reduce<UnitState>(
    (loaded, model) => {
      const unknown = new Unknown('daemon-reload')
      if (typeof model === 'string')
        return { ...unknownUnit(loaded, model === 'unseen' ? fromFile : fromOthers, unknown), exe: loaded.exe }
      const set = withValues(loaded, { DropInPaths: unknown, ...model.sets })
      return Object.entries(model.adds ?? {}).reduce(
        (added, [property, more]) => withWords(added, property as UnitProperty, more),
        set,
      )
    },
    { ...unit, properties: { ...unit.properties, NeedDaemonReload: 'no' } },
  )

const withWords = (unit: UnitState, property: UnitProperty, more: readonly string[]): UnitState => {
  const before: Known<string> = unit.properties[property]
  return before instanceof Unknown
    ? unit
    : withValues(unit, { [property]: [...new Set([...wordsOf(before), ...more])].join(' ') })
}

/** A list property as words. */
export const wordsOf = (value: string): string[] => value.split(/\s+/).filter((word) => word !== '')
