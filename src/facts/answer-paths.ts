import { bytes, type Lines, records, wordsOf } from './lines.ts'
import { absent, type Node } from './node.ts'
import type { Question } from './question.ts'
import { canonical, nowhere, type Tree } from './tree.ts'
import { Unknown } from './unknown.ts'

interface PathLines {
  readonly paths: Lines
  readonly texts: Lines
  readonly digests: Lines
  readonly entries: Lines
}

export const noPermission = 'drover has no permission to look there'
export const remote = 'it is on a network file system, which drover never touches'

export const treeOf = (question: Question, lines: PathLines): Tree => {
  const named = namedNodes(question, records(lines.paths[0]))
  let tree: Tree = { nodes: new Map() }
  // A link found late may stand above a path found early, so places are settled in rounds; links nest a few deep.
  for (let round = 0, settled = false; !settled && round < 40; round += 1) {
    const nodes = new Map<string, Node>()
    for (const [name, node] of named) {
      const at = placeOf(tree, name)
      if (at !== nowhere) nodes.set(at, node)
    }
    settled = nodes.size === tree.nodes.size && [...nodes.keys()].every((key) => tree.nodes.has(key))
    tree = { nodes }
  }
  return withContents(question, lines, tree)
}

const placeOf = (tree: Tree, path: string, follow = false): string => {
  const place = canonical(tree, path, follow)
  return place instanceof Unknown ? path : place
}

const namedNodes = (question: Question, fields: readonly string[]): Map<string, Node> => {
  const named = new Map<string, Node>(
    question.paths.map((path) => [path, { type: 'unreadable', why: 'it vanished while drover looked' }]),
  )
  for (let at = 0; at < fields.length; ) {
    const [kind, name = '', more = ''] = fields.slice(at, at + 3)
    at += kind === 'L' || kind === 'S' ? 3 : 2
    if (kind === 'L') named.set(name, { type: 'symlink', target: more })
    else if (kind === 'S') named.set(name, statNode(more))
    else named.set(name, kind === 'A' ? absent : { type: 'unreadable', why: kind === 'N' ? remote : noPermission })
  }
  return named
}

/** `%f %u %g %U %G %s %Y %d:%i` of stat. */
const statNode = (fields: string): Node => {
  const [raw = '0', uid, gid, user = '', group = '', size, modified, inode = ''] = fields.split(' ')
  const bits = Number.parseInt(raw, 16)
  const owner = { mode: bits & 0o7777, uid: Number(uid), gid: Number(gid), user, group }
  switch (bits & 0o170000) {
    case 0o100000:
      return { type: 'file', ...owner, size: Number(size), inode, modifiedS: Number(modified) }
    case 0o040000:
      return { type: 'directory', ...owner, inode }
    default:
      return { type: 'other' }
  }
}

const withContents = (question: Question, lines: PathLines, tree: Tree): Tree => {
  const nodes = new Map(tree.nodes)
  const change = (path: string, how: (node: Node) => Node): void => {
    const at = placeOf(tree, path, true)
    const node = nodes.get(at)
    if (node !== undefined && !(node instanceof Unknown)) nodes.set(at, how(node))
  }
  for (const [index, { path }] of question.texts.entries()) {
    const [word, content] = wordsOf(lines.texts[index] ?? '')
    change(path, (node) => {
      if (word === 'denied') return { type: 'unreadable', why: noPermission }
      return word === 'text' && node.type === 'file' ? { ...node, content: new Uint8Array(bytes(content)) } : node
    })
  }
  const digests = new Map(records(lines.digests[0]).map((record) => [record.slice(66), record.slice(0, 64)]))
  for (const path of question.digests) {
    const sha256 = digests.get(path)
    change(path, (node) =>
      node.type !== 'file'
        ? node
        : sha256 === undefined
          ? { type: 'unreadable', why: noPermission }
          : { ...node, sha256 },
    )
  }
  for (const [index, path] of question.directories.entries()) {
    const [word, names] = wordsOf(lines.entries[index] ?? '')
    change(path, (node) => {
      if (word === 'denied') return { type: 'unreadable', why: noPermission }
      return word === 'names' && node.type === 'directory' ? { ...node, entries: records(names).sort() } : node
    })
  }
  return { nodes }
}
