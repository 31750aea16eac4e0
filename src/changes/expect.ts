import type { Node } from '../facts/node.ts'
import type { HostState } from '../facts/state.ts'
import { lookUp } from '../facts/tree.ts'
import { Unknown } from '../facts/unknown.ts'
import type { Change, Expectation } from './change.ts'

/**
 * What a change takes for granted: what it overwrites as it was seen, and whatever its task relied on. The
 * host compares before it acts and refuses as `drifted`, so a plan that a person read is never applied to a
 * host that has moved on meanwhile.
 */
export const expectationsOf = (state: HostState, change: Change): Expectation[] => [
  ...overwritten(state, change),
  ...(change.relies ?? []),
]

const overwritten = (state: HostState, change: Change): Expectation[] => {
  switch (change.kind) {
    case 'write':
    case 'link':
    case 'directory':
    case 'attributes':
    case 'remove':
    case 'upload':
    case 'copy':
      return pathAsSeen(state, change.path)
    case 'rename':
      return [...pathAsSeen(state, change.from), ...pathAsSeen(state, change.to)]
    case 'systemctl':
      return change.verb === 'daemon-reload' ? [] : unitAsSeen(state, change.unit)
    case 'package':
    case 'await':
    case 'reboot':
    case 'run':
    case 'hold':
    case 'release':
    case 'arm':
    case 'confirm':
    case 'fire':
      return []
  }
}

/** Only settled states: one that is on its way (activating, auto-restart) may be another by the time we act. */
const settled = ['active', 'inactive', 'failed']

export const unitAsSeen = (state: HostState, unit: string): Expectation[] => {
  const active = state.units.get(unit)?.properties.ActiveState
  return typeof active === 'string' && settled.includes(active)
    ? [{ unit, property: 'ActiveState', value: active }]
    : []
}

const pathAsSeen = (state: HostState, path: string): Expectation[] => {
  const node = lookUp(state.tree, path)
  return node === undefined || node instanceof Unknown ? [] : nodeAsSeen(path, node)
}

const nodeAsSeen = (path: string, node: Node): Expectation[] => {
  switch (node.type) {
    case 'file':
      return [{ path, is: 'file', ...(typeof node.sha256 === 'string' && { sha256: node.sha256 }) }]
    case 'symlink':
      return [{ path, is: 'symlink', target: node.target }]
    case 'absent':
    case 'directory':
    case 'other':
      return [{ path, is: node.type }]
    case 'unreadable':
      return []
  }
}
