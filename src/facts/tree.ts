import { absent, type DirectoryNode, type KnownNode, type Node } from './node.ts'
import { type Known, known, Unknown } from './unknown.ts'

/**
 * The host's paths as a tree with lstat semantics. Names are resolved in it, so a link above a path makes
 * two names one file, and a rename or a removal of a directory takes its children along.
 * Keys are canonical: no component before the last is a symlink.
 */
export interface Tree {
  readonly nodes: ReadonlyMap<string, KnownNode>
}

export const parentOf = (path: string): string => {
  const cut = path.lastIndexOf('/')
  return cut <= 0 ? '/' : path.slice(0, cut)
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const join = (directory: string, name: string): string =>
  directory === '/' ? `/${name}` : `${directory}/${name}`

/** `/`, then every directory on the way, then the path itself. */
export const ancestry = (path: string): string[] => {
  const parts = path.split('/').filter((part) => part !== '')
  return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)]
}

/** Absolute, without empty, `.` or `..` components and without NUL: the only paths drover takes. */
export const isCleanPath = (path: string): boolean =>
  path === '/' ||
  (path.startsWith('/') &&
    !path.includes('\0') &&
    path
      .slice(1)
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..'))

// Linux gives up at 40 as well.
const maxLinks = 40

/** The place of a path that leads nowhere (round in links, say): nothing can be there, and no real path has this form. */
export const nowhere = '\0'

/** Where a path really is: every link before the last component followed, the last one too if `follow`. */
export const canonical = (tree: Tree, path: string, follow = false): Known<string> => {
  let links = 0
  let done = '/'
  let todo = partsOf(path)
  while (todo.length > 0) {
    const [part = '', ...rest] = todo
    todo = rest
    if (part === '.' || part === '..') {
      // As the kernel sees it: what is no directory has neither.
      if (isNoDirectory(nodeAt(tree, done))) return nowhere
      if (part === '..') done = parentOf(done)
      continue
    }
    const here = join(done, part)
    const node = tree.nodes.get(here)
    if (node instanceof Unknown) return node
    if (node?.type === 'symlink' && (todo.length > 0 || follow)) {
      links += 1
      if (links > maxLinks) return nowhere
      if (node.target.startsWith('/')) done = '/'
      todo = [...partsOf(node.target), ...todo]
      continue
    }
    done = here
  }
  return done
}

/** A slash at the end asks for a directory, as `/.` does. */
const partsOf = (path: string): string[] => {
  const parts = path.split('/').filter((part) => part !== '')
  return path.endsWith('/') && parts.length > 0 ? [...parts, '.'] : parts
}

const isNoDirectory = (node: KnownNode | undefined): boolean =>
  node !== undefined && !(node instanceof Unknown) && ['absent', 'file', 'other'].includes(node.type)

/** What lies at a path by lstat. A path under something absent is absent; one nobody asked about is undefined. */
export const lookUp = (tree: Tree, path: string, follow = false): KnownNode | undefined => {
  const place = canonical(tree, path, follow)
  if (place instanceof Unknown) return place
  return place === nowhere ? absent : nodeAt(tree, place)
}

/** What lies at a canonical place. */
const nodeAt = (tree: Tree, place: string): KnownNode | undefined => {
  const node = tree.nodes.get(place)
  if (node !== undefined) return node
  for (let below = place, above = parentOf(place); below !== '/'; below = above, above = parentOf(above)) {
    const upper = tree.nodes.get(above)
    if (upper === undefined) continue
    if (upper instanceof Unknown || upper.type === 'unreadable') return upper
    return upper.type === 'directory' && !lacks(upper, nameOf(below)) ? undefined : absent
  }
  return undefined
}

/** A directory whose names are known holds nothing else. */
const lacks = (directory: DirectoryNode, name: string): boolean =>
  directory.entries !== undefined && !(directory.entries instanceof Unknown) && !directory.entries.includes(name)

/** The tree with another node at a path. What lay below goes, unless a directory stays a directory. */
export const place = (tree: Tree, path: string, node: KnownNode): Tree => {
  const at = known(`the place of ${path}`, canonical(tree, path))
  if (at === nowhere) throw new Error(`${path} leads nowhere`)
  const nodes = new Map(tree.nodes)
  const isDirectory = (value: KnownNode | undefined): boolean =>
    value !== undefined && !(value instanceof Unknown) && value.type === 'directory'
  if (!(isDirectory(node) && isDirectory(nodes.get(at)))) {
    for (const key of nodes.keys()) if (key.startsWith(`${at}/`)) nodes.delete(key)
  }
  nodes.set(at, node)
  const above = nodes.get(parentOf(at))
  if (at !== '/' && above !== undefined && !(above instanceof Unknown) && above.type === 'directory') {
    nodes.set(parentOf(at), withEntry(above, nameOf(at), node))
  }
  return { nodes }
}

/** The tree with what lies at `from`, and all below it, at `to`. */
export const renamed = (tree: Tree, from: string, to: string): Tree => {
  const source = known(`the place of ${from}`, canonical(tree, from))
  const node = lookUp(tree, from)
  if (node === undefined) throw new Error(`${from} is renamed, and nobody asked what it is`)
  const below = [...tree.nodes].filter(([key]) => key.startsWith(`${source}/`))
  const after = place(place(tree, from, absent), to, node)
  const target = known(`the place of ${to}`, canonical(after, to))
  return {
    nodes: new Map([
      ...after.nodes,
      ...below.map(([key, child]) => [`${target}${key.slice(source.length)}`, child] as const),
    ]),
  }
}

const withEntry = (directory: DirectoryNode, name: string, node: KnownNode): Node => {
  if (directory.entries === undefined || directory.entries instanceof Unknown) return directory
  if (node instanceof Unknown) return { ...directory, entries: node }
  const others = directory.entries.filter((entry) => entry !== name)
  return { ...directory, entries: node.type === 'absent' ? others : [...others, name].sort() }
}
