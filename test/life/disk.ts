import { contentBytes, sha256 } from '../../src/changes/predict.ts'
import { absent, type DirectoryNode, type FileNode, type Node } from '../../src/facts/node.ts'
import { canonical, join, lookUp, parentOf, place, renamed, type Tree } from '../../src/facts/tree.ts'
import { Unknown } from '../../src/facts/unknown.ts'

/** What the host itself answers to whoever changes its files, be it drover, the agent or a person. */
export class Refused extends Error {}

/** A disk of which everything is known. Paths are resolved as the kernel does. */
export class Disk {
  tree: Tree
  /** Below these nothing can be written. */
  readonly readOnly: readonly string[]

  constructor(readOnly: readonly string[] = [], tree: Tree = { nodes: new Map([['/', directory()]]) }) {
    this.readOnly = readOnly
    this.tree = tree
  }

  lstat(path: string): Node {
    return knownNode(lookUp(this.tree, path) ?? absent)
  }

  stat(path: string): Node {
    return knownNode(lookUp(this.tree, path, true) ?? absent)
  }

  exists(path: string): boolean {
    return this.lstat(path).type !== 'absent'
  }

  real(path: string): string {
    const at = canonical(this.tree, path, true)
    if (at instanceof Unknown) throw new Error(`${path} is unknown`)
    return at
  }

  text(path: string): string | null {
    const node = this.stat(path)
    return node.type === 'file' && node.content instanceof Uint8Array ? Buffer.from(node.content).toString() : null
  }

  digest(path: string): string | null {
    const node = this.stat(path)
    return node.type === 'file' && typeof node.sha256 === 'string' ? node.sha256 : null
  }

  entries(path: string): readonly string[] {
    const node = this.stat(path)
    return node.type === 'directory' && Array.isArray(node.entries) ? node.entries : []
  }

  put(path: string, node: Node): void {
    const at = canonical(this.tree, path)
    if (at instanceof Unknown || this.readOnly.some((top) => at === top || at.startsWith(`${top}/`)))
      throw new Refused(`${path}: read-only file system`)
    if (this.stat(parentOf(path)).type !== 'directory') throw new Refused(`${path}: no directory above it`)
    this.tree = place(this.tree, path, node)
  }

  write(path: string, text: string, mode = 0o644, modifiedS = 900_000): void {
    if (this.lstat(path).type === 'directory') throw new Refused(`${path}: is a directory`)
    this.put(path, { ...file(text, mode), modifiedS })
  }

  link(path: string, target: string): void {
    if (this.lstat(path).type === 'directory') throw new Refused(`${path}: is a directory`)
    this.put(path, { type: 'symlink', target })
  }

  /** One directory; there already, it keeps its names and what is not said of it. */
  directory(path: string, mode?: number): void {
    const node = this.lstat(path)
    if (node.type === 'directory') this.put(path, mode === undefined ? node : { ...node, mode })
    else if (node.type === 'absent') this.put(path, directory(mode))
    else if (this.stat(path).type !== 'directory') throw new Refused(`${path}: is a ${node.type}`)
  }

  directories(path: string): void {
    if (path !== '/') this.directories(parentOf(path))
    if (this.stat(path).type !== 'directory') this.directory(path)
  }

  remove(path: string, recurse = false): void {
    if (!this.exists(path)) return
    if (!recurse && this.lstat(path).type === 'directory' && this.entries(path).length > 0)
      throw new Refused(`${path}: directory not empty`)
    this.put(path, absent)
  }

  rename(from: string, to: string): void {
    if (!this.exists(from) || this.exists(to)) throw new Refused(`${from} to ${to}: not there, or in the way`)
    this.put(to, absent)
    this.tree = renamed(this.tree, from, to)
  }

  /** What lies below a directory, itself left out: each real path with what it is. */
  below(path: string): Record<string, string> {
    const within = (at: string): [string, string][] =>
      this.entries(at).flatMap((name) => {
        const child = join(at, name)
        const node = this.lstat(child)
        const rest = node.type === 'directory' ? within(child) : []
        return [[child, said(node)] as [string, string], ...rest]
      })
    return Object.fromEntries(within(path))
  }
}

export const said = (node: Node): string => {
  switch (node.type) {
    case 'file':
      return `${node.mode.toString(8)} ${node.user} ${String(node.sha256)}`
    case 'directory':
      return `${node.mode.toString(8)} ${node.user} directory`
    case 'symlink':
      return `-> ${node.target}`
    default:
      return node.type
  }
}

const byRoot = { uid: 0, gid: 0, user: 'root', group: 'root' } as const

const file = (text: string, mode: number): FileNode => {
  const content = new Uint8Array(contentBytes(text))
  return { type: 'file', ...byRoot, mode, size: content.length, content, sha256: sha256(content), inode: '1:1' }
}

const directory = (mode = 0o755): DirectoryNode => ({ type: 'directory', ...byRoot, mode, entries: [] })

const knownNode = (node: Node | Unknown): Node => {
  if (node instanceof Unknown) throw new Error(`unknown: ${node.why}`)
  return node
}
