import { AnswerError } from './answer-error.ts'
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

const unreadable = (why: string): Node => ({ type: 'unreadable', why })
const raced = unreadable('it changed while drover looked')

const namedNodes = (question: Question, fields: readonly string[]): Map<string, Node> => {
  const named = new Map<string, Node>(question.paths.map((path) => [path, raced]))
  for (let at = 0; at < fields.length; ) {
    const kind = fields[at] ?? ''
    const size = kind === 'L' || kind === 'S' ? 3 : 2
    const [, name, more = ''] = fields.slice(at, at + size)
    if (at + size > fields.length || name === undefined) throw new AnswerError('paths', 'a record is cut')
    named.set(name, nodeOf(kind, more))
    at += size
  }
  return named
}

const nodeOf = (kind: string, more: string): Node => {
  switch (kind) {
    case 'L':
      // No link is empty: this one went before its text was read.
      return more === '' ? raced : { type: 'symlink', target: more }
    case 'S':
      return statNode(more)
    case 'A':
      return absent
    case 'N':
      return unreadable(remote)
    case 'P':
      return unreadable(noPermission)
    default:
      throw new AnswerError('paths', 'a record of no known kind')
  }
}

/** `%f %u %g %s %Y %d:%i %U:%G` of stat. Names stand last: those of a directory service may hold blanks. */
const stat = /^([0-9a-f]+) (\d+) (\d+) (\d+) (-?\d+) (\d+:\d+) ([^:]*):(.*)$/s

const statNode = (fields: string): Node => {
  const match = stat.exec(fields)
  if (match === null) throw new AnswerError('paths', 'a record of stat is cut')
  const [, raw = '', uid, gid, size, modified, inode = '', user = '', group = ''] = match
  const bits = Number.parseInt(raw, 16)
  const owner = { mode: bits & 0o7777, uid: Number(uid), gid: Number(gid), user, group }
  switch (bits & 0o170000) {
    case 0o100000:
      return { type: 'file', ...owner, size: Number(size), inode, modifiedS: Number(modified) }
    case 0o040000:
      return { type: 'directory', ...owner, inode }
    case 0o120000:
      // It was none when the shell looked.
      return raced
    default:
      return { type: 'other' }
  }
}

const withContents = (question: Question, lines: PathLines, tree: Tree): Tree => {
  const nodes = new Map(tree.nodes)
  const change = (path: string, type: Node['type'], how: (node: Node) => Node): void => {
    const at = placeOf(tree, path, true)
    const node = nodes.get(at)
    if (node !== undefined && !(node instanceof Unknown) && node.type === type) nodes.set(at, how(node))
  }
  for (const [index, { path }] of question.texts.entries()) {
    const [word, content, code] = wordsOf(lines.texts[index] ?? '')
    change(path, 'file', (node) => {
      if (word === 'denied') return unreadable(noPermission)
      if (word !== 'text') return raced
      return code === '0' ? withContent(node, bytes(content)) : unreadable(`reading it ended with ${code}`)
    })
  }
  const digests = new Map(digestRecords(lines.digests[0]))
  for (const path of question.digests) {
    const sha256 = digests.get(path)
    change(path, 'file', (node) =>
      sha256 === undefined ? unreadable('drover could not read it to its end') : { ...node, sha256 },
    )
  }
  for (const [index, path] of question.directories.entries()) {
    const [word, names] = wordsOf(lines.entries[index] ?? '')
    change(path, 'directory', (node) => {
      if (word === 'denied') return unreadable(noPermission)
      if (word === 'many') return unreadable('it holds more names than drover reads')
      return word === 'names' ? { ...node, entries: records(names).sort() } : raced
    })
  }
  return { nodes }
}

/** Two names of one file may have been asked for different lengths of it. */
const withContent = (node: Node, content: Buffer): Node =>
  node.type === 'file' && node.content instanceof Uint8Array && node.content.length > content.length
    ? node
    : ({ ...node, content: new Uint8Array(content) } as Node)

const digestRecords = (line: string | undefined): [path: string, sha256: string][] =>
  records(line).map((record) => {
    const match = /^([0-9a-f]{64}) \*(.*)$/s.exec(record)
    if (match === null) throw new AnswerError('digests', 'a record is cut')
    return [match[2] ?? '', match[1] ?? '']
  })
