import type { FileNode } from '../facts/node.ts'
import type { HostState } from '../facts/state.ts'
import { lookUp } from '../facts/tree.ts'
import type { UnitState } from '../facts/unit.ts'
import { Unknown } from '../facts/unknown.ts'
import type { Change } from './change.ts'
import { contentBytes, sha256 } from './predict.ts'
import type { Undo } from './undo.ts'

/** A change with the state of the host right before it. */
export interface Before {
  readonly change: Change
  readonly state: HostState
}

/**
 * What undoes all of these, in the order the host does it: files and links back from the last to the first, one reload,
 * and then the units. Throws for a change that nothing undoes: such a one has no place in a guarded group.
 */
export const undoOf = (guarded: readonly Before[]): readonly Undo[] => {
  const all = guarded.flatMap(({ change, state }) => undoOfOne(state, change))
  const isRewritten = rewrittenBy(guarded)
  const places = all
    .filter(({ kind }) => kind === 'link' || kind === 'file')
    .map((place) => (place.kind === 'file' && isRewritten(place.path) ? { ...place, rewritten: true as const } : place))
    .reverse()
  const reload = all.find(({ kind }) => kind === 'daemon-reload')
  // How a unit stood before the first change that touched it.
  const units = new Map(
    all
      .flatMap((undo) => (undo.kind === 'unit' ? [undo] : []))
      .reverse()
      .map((undo) => [undo.unit, undo]),
  )
  return [...places, ...(reload === undefined ? [] : [reload]), ...units.values()]
}

/** Whether a change of the group leaves unknown what is in a file: a started agent writes its own units. */
const rewrittenBy = (guarded: readonly Before[]): ((path: string) => boolean) => {
  const spoilt = guarded.flatMap(({ change }) => change.spoils ?? []).filter((key) => key.startsWith('path:'))
  return (path) => spoilt.some((key) => `path:${path}/`.startsWith(`${key}/`))
}

const undoOfOne = (state: HostState, change: Change): Undo[] => {
  switch (change.kind) {
    case 'write':
      return [put(state, change.path, sha256(contentBytes(change.content)))]
    case 'upload':
      return [put(state, change.path, change.artifact.sha256)]
    case 'copy':
      return [put(state, change.path, change.sha256)]
    case 'link': {
      const node = nodeOf(state, change.path)
      if (node.type === 'symlink') return [{ kind: 'link', path: change.path, was: node.target, ours: change.target }]
      if (node.type === 'absent') return [{ kind: 'link', path: change.path, was: null, ours: change.target }]
      return none(change, `${change.path} is a ${node.type}`)
    }
    case 'remove': {
      const node = nodeOf(state, change.path)
      if (node.type === 'symlink') return [{ kind: 'link', path: change.path, was: node.target, ours: null }]
      if (node.type === 'file') return [put(state, change.path, null)]
      return none(change, `${change.path} is a ${node.type}`)
    }
    case 'systemctl':
      return ofSystemctl(state, change)
    // A directory more does no harm, and the others change nothing that stays.
    case 'directory':
    case 'await':
    case 'hold':
      return []
    case 'attributes':
    case 'package':
    case 'reboot':
    case 'rename':
    case 'release':
    case 'run':
    case 'arm':
    case 'confirm':
    case 'fire':
      return none(change, 'nothing undoes it')
  }
}

const put = (state: HostState, path: string, oursSha256: string | null): Undo => {
  const node = nodeOf(state, path)
  if (node.type === 'absent') return { kind: 'file', path, wasSha256: null, oursSha256 }
  if (node.type === 'file') return { kind: 'file', path, wasSha256: digest(path, node), oursSha256 }
  throw new Error(`a guarded change replaces ${path}, which is a ${node.type}`)
}

const digest = (path: string, { sha256: known }: FileNode): string => {
  if (typeof known === 'string') return known
  throw new Error(`a guarded change replaces ${path}, whose digest was not asked for or is not known`)
}

const ofSystemctl = (state: HostState, change: Extract<Change, { kind: 'systemctl' }>): Undo[] => {
  switch (change.verb) {
    case 'daemon-reload':
      return [{ kind: 'daemon-reload' }]
    case 'reset-failed':
      return []
    case 'start':
    case 'stop':
    case 'restart': {
      const unit = state.units.get(change.unit)
      const was = unit === undefined ? null : standing(unit)
      if (unit === undefined || was === null) return none(change, 'how the unit stands is not known')
      const exe = typeof unit.exe === 'string' && unit.exe.startsWith('/') ? unit.exe : undefined
      const written = change.verb === 'stop' ? [] : writtenAnew(state, change)
      return [...written, { kind: 'unit', unit: change.unit, was, ...(exe !== undefined && { exe }) }]
    }
    case 'enable':
    case 'disable':
      return none(change, 'which links it makes is not known')
  }
}

const standing = ({ properties }: UnitState): Extract<Undo, { kind: 'unit' }>['was'] | null => {
  const { ActiveState: active, InvocationID: invocation } = properties
  if (typeof active !== 'string') return null
  // Not known: a `reset-failed` of ours made a failed one inactive, and nobody stopped it on purpose.
  if (active === 'inactive') return invocation instanceof Unknown ? 'failed' : 'down'
  if (active === 'failed') return 'failed'
  return ['active', 'reloading', 'refreshing'].includes(active) ? 'up' : 'unsteady'
}

/**
 * The texts that a starting agent writes: what ran before may not be able to start with those of a newer one. Not what
 * it keeps for itself, which is also true of the one before.
 */
const writtenAnew = (state: HostState, { spoils = [] }: Change): Undo[] => {
  const files = spoils.flatMap((key): Undo[] => {
    const path = key.startsWith('path:') ? key.slice('path:'.length) : ''
    if (!path.startsWith('/etc/systemd/system/') && !path.endsWith('/aks-flex-node-recovery.sh')) return []
    const node = lookUp(state.tree, path)
    if (node === undefined || node instanceof Unknown || node.type !== 'file') return []
    if (typeof node.sha256 !== 'string') return []
    return [{ kind: 'file', path, wasSha256: node.sha256, oursSha256: node.sha256, rewritten: true }]
  })
  return files.length === 0 ? [] : [...files, { kind: 'daemon-reload' }]
}

const nodeOf = (state: HostState, path: string) => {
  const node = lookUp(state.tree, path)
  if (node === undefined || node instanceof Unknown)
    throw new Error(`a guarded change touches ${path}, of which nothing is known`)
  return node
}

const none = (change: Change, why: string): never => {
  throw new Error(`a guarded group holds a change that cannot be undone (${change.kind}): ${why}`)
}
