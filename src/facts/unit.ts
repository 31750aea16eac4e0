import type { Known } from './unknown.ts'

/** What systemd is asked about every unit, in the order of the question. */
export const unitProperties = [
  'Id',
  'LoadState',
  'LoadError',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'UnitFilePreset',
  'FragmentPath',
  'DropInPaths',
  'NeedDaemonReload',
  'NRestarts',
  'Result',
  'MainPID',
  'ExecMainStatus',
  'ExecStart',
  'Wants',
  'Requires',
  'BindsTo',
  'After',
  'WantedBy',
  'RequiredBy',
  'BoundBy',
  'ConsistsOf',
  'RequisiteOf',
  'PropagatesStopTo',
  'Conflicts',
  'ConflictedBy',
  'InvocationID',
  'ActiveEnterTimestampMonotonic',
  'StartLimitIntervalUSec',
  'StartLimitBurst',
  'Job',
  'Type',
] as const

export type UnitProperty = (typeof unitProperties)[number]

/** The loaded half of a unit. The half on disk is asked as paths: fragment, drop-ins, `.wants` links. */
export interface UnitState {
  readonly properties: Readonly<Record<UnitProperty, Known<string>>>
  /** What MainPID runs, without ` (deleted)`; empty when nothing runs, `hiddenExe` where the host does not tell. */
  readonly exe: Known<string>
  /** Starts inside its own limit window, counted from the journal: an upper bound. Absent: not asked. */
  readonly starts?: Known<number>
  /**
   * What was written and systemd has not loaded yet: the unit's model, `unseen` where a file of the unit changed
   * without one, so that a reload makes the unit unknown, or `others` where a file of another unit did, which
   * may name this one.
   */
  readonly pending?: readonly (UnitModel | 'unseen' | 'others')[]
}

/**
 * Where systemd looks for units, strongest first; only what lies in /run is lost at a reboot. `/lib` is a link to
 * `/usr/lib`, and a change is made where its path really leads.
 */
export const unitDirectories = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
] as const

/** Something runs, and only root may see what. */
export const hiddenExe = '?'

/** What a unit file drover writes makes true once it is loaded, so that a reload can be predicted. */
export interface UnitModel {
  readonly unit: string
  /** Replaces the property. */
  readonly sets?: Readonly<Partial<Record<UnitProperty, string>>>
  /** Adds words to a list property, as a second `Wants=` line does. */
  readonly adds?: Readonly<Partial<Record<UnitProperty, readonly string[]>>>
}

const unitName =
  /^[A-Za-z0-9:_.\\][A-Za-z0-9:_.\\-]*(@[A-Za-z0-9:_.\\-]+)?\.(service|target|socket|timer|mount|automount|path|slice|scope|swap|device)$/

/**
 * Fit to be asked: one invalid name ends the whole `systemctl show` batch, and a bare template such as
 * `foo@.service` is one (mechanisms.md 5).
 */
export const isUnitName = (name: string): boolean => name.length <= 255 && unitName.test(name)
