import { createHash } from 'node:crypto'
import { absent, type FileNode, type Ownership } from '../facts/node.ts'
import type { HostState } from '../facts/state.ts'
import { canonical, lookUp, nowhere, place, renamed, type Tree } from '../facts/tree.ts'
import { Unknown } from '../facts/unknown.ts'
import { Secret } from '../secret.ts'
import type { Change } from './change.ts'
import { withBoot } from './predict-boot.ts'
import { withPackages } from './predict-packages.ts'
import { withUnitFile } from './predict-unit-files.ts'
import { withVerb } from './predict-units.ts'
import { spoil } from './spoil.ts'

/** The host as it will be after the change. What the change makes is set, what it spoils becomes unknown. */
export const predict = (state: HostState, change: Change): HostState => {
  const after = predictKind(state, change)
  return (change.spoils ?? []).reduce((spoilt, key) => {
    const written = key.startsWith(pathKey) ? withUnitFile(spoilt, key.slice(pathKey.length)) : spoilt
    return spoil(written, key, summaryWord(change))
  }, after)
}

const pathKey = 'path:'

const predictKind = (state: HostState, change: Change): HostState => {
  switch (change.kind) {
    case 'write': {
      const written = { ...state, tree: place(state.tree, change.path, fileNode(change)) }
      return withUnitFile(written, change.path, change.model)
    }
    case 'link':
      return withUnitFile({ ...state, tree: linked(state.tree, change) }, change.path)
    case 'upload':
    case 'copy': {
      const written = { ...state, tree: place(state.tree, change.path, binaryNode(change)) }
      return withUnitFile(written, change.path)
    }
    case 'directory':
      return {
        ...state,
        tree: place(state.tree, change.path, { type: 'directory', ...ownership(change), entries: [] }),
      }
    case 'attributes': {
      const node = lookUp(state.tree, change.path)
      if (node === undefined || node instanceof Unknown || (node.type !== 'file' && node.type !== 'directory'))
        return state
      return { ...state, tree: place(state.tree, change.path, { ...node, ...ownership(change) }) }
    }
    case 'rename': {
      const tree = renamed(state.tree, change.from, change.to)
      return withUnitFile(withUnitFile({ ...state, tree }, change.from), change.to)
    }
    case 'remove':
      return withUnitFile({ ...state, tree: place(state.tree, change.path, absent) }, change.path)
    case 'systemctl':
      return withVerb(state, change)
    case 'package':
      return withPackages(state, change.install)
    case 'await':
    case 'hold':
    case 'release':
    case 'arm':
      return state
    case 'confirm':
    case 'fire':
      return { ...state, self: { ...state.self, rollback: null } }
    case 'reboot':
      return withBoot(state)
    case 'run': {
      // It may do anything, so what another command said before it is worth nothing any more.
      const unknown = new Unknown(summaryWord(change))
      return { ...state, commands: new Map([...state.commands].map(([key]) => [key, unknown])) }
    }
  }
}

/** A link to where nobody looked: what can be reached through it is unknown, not absent. */
const linked = (tree: Tree, { path, target }: Extract<Change, { kind: 'link' }>): Tree => {
  const after = place(tree, path, { type: 'symlink', target })
  const leadsTo = canonical(after, path, true)
  if (leadsTo instanceof Unknown || leadsTo === nowhere || lookUp(after, leadsTo) !== undefined) return after
  return { nodes: new Map(after.nodes).set(leadsTo, new Unknown(`link ${path}`)) }
}

const fileNode = (change: Extract<Change, { kind: 'write' }>): FileNode => {
  const content = contentBytes(change.content)
  return {
    type: 'file',
    ...ownership(change),
    size: content.length,
    sha256: sha256(content),
    content: new Uint8Array(content),
  }
}

/** Nobody reads what is in it; that is known by its digest. */
const binaryNode = (change: Extract<Change, { kind: 'upload' | 'copy' }>): FileNode => ({
  type: 'file',
  ...ownership(change),
  ...(change.kind === 'upload'
    ? { size: change.artifact.size, sha256: change.artifact.sha256 }
    : { size: change.size, sha256: change.sha256 }),
  content: new Unknown(summaryWord(change)),
})

export const contentBytes = (content: string | Secret): Buffer =>
  Buffer.from(content instanceof Secret ? content.reveal() : content, 'utf8')

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

const ownership = ({ mode, owner }: { mode: number; owner: string }): Ownership => {
  const [user = '', group = ''] = owner.split(':')
  return { mode, uid: id(user), gid: id(group), user, group }
}

// A name's number is the host's to know; root is 0 everywhere.
const id = (name: string): number => (name === 'root' ? 0 : /^\d+$/.test(name) ? Number(name) : -1)

const summaryWord = (change: Change): string => (change.kind === 'systemctl' ? `systemctl ${change.verb}` : change.kind)
