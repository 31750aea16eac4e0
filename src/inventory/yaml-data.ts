import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from 'yaml'
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import { quoted } from './names.ts'
import { parseSecretTag } from './secret-reference.ts'
import { secretTag } from './yaml-tags.ts'

export interface Complaint {
  readonly offset: number
  readonly message: string
  readonly remedy: string
}

export interface YamlData {
  readonly value: unknown
  readonly complaints: readonly Complaint[]
  /** By key, because searching a mapping's pairs for each of 10,000 keys would be quadratic. */
  readonly pairs: ReadonlyMap<YAMLMap, ReadonlyMap<string, Pair>>
  readonly targets: ReadonlyMap<Alias, Node>
}

/** Nodes that aliases may add to a file; without a cap ten lines can stand for a thousand million. */
const aliasLimit = 100_000

/**
 * The document as plain data: mappings without a prototype, so that no key of a file can mean more than data.
 * Refuses what YAML readers take differently or lose in silence.
 */
export const toData = (document: Document): YamlData => {
  const complaints: Complaint[] = []
  const pairs = new Map<YAMLMap, Map<string, Pair>>()
  const targets = new Map<Alias, Node>()
  const anchors = new Map<string, Node>()
  const finished = new Map<Node, { value: unknown; size: number }>()
  let size = 0
  let expanded = 0

  const complain = (node: Node, message: string, remedy: string): undefined => {
    complaints.push({ offset: node.range?.[0] ?? 0, message, remedy })
  }

  const visit = (node: Node | null): unknown => {
    if (node === null) return null
    if (isAlias(node)) return visitAlias(node)
    const before = size++
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    const value = isMap(node)
      ? visitMap(node)
      : isSeq(node)
        ? node.items.map((item) => visit(item as Node))
        : scalar(node)
    if (node.anchor !== undefined) finished.set(node, { value, size: size - before })
    return value
  }

  const visitAlias = (alias: Alias): unknown => {
    const target = anchors.get(alias.source)
    if (target === undefined)
      return complain(alias, `No anchor &${alias.source} stands before this alias.`, 'Define it first.')
    const copy = finished.get(target)
    if (copy === undefined) return complain(alias, `&${alias.source} contains itself.`, 'Write the value out.')
    expanded += copy.size
    size += copy.size
    if (expanded > aliasLimit) {
      if (expanded - copy.size > aliasLimit) return undefined
      return complain(
        alias,
        `The aliases stand for more than ${aliasLimit} values.`,
        'Use group settings instead of aliases.',
      )
    }
    targets.set(alias, target)
    return copy.value
  }

  const visitMap = (map: YAMLMap): unknown => {
    const data: Record<string, unknown> = Object.create(null)
    const byKey = new Map<string, Pair>()
    pairs.set(map, byKey)
    for (const pair of map.items) {
      const node = pair.key as Node
      const key = isScalar(node) && typeof node.value === 'string' ? node.value : undefined
      if (key === undefined) complain(node, 'A key is not a plain text.', 'Write a text as the key.')
      else if (key === '<<') complain(node, 'Merge keys (<<) are not supported.', 'Use the settings of a group.')
      else if (key === '__proto__') complain(node, '__proto__ cannot be a key.', 'Choose another name.')
      else if (byKey.has(key)) complain(node, `The key ${quoted(key)} is given twice.`, 'Keep one of the two.')
      else {
        byKey.set(key, pair)
        const value = visit(pair.value as Node | null)
        // What drew a complaint is left out, so that it draws no second one.
        if (value !== undefined) data[key] = value
      }
    }
    return data
  }

  const scalar = (node: Node): unknown => {
    if (!isScalar(node)) return null
    if (node.tag === secretTag) return secret(node)
    const problem = numberProblem(node)
    return problem === undefined ? node.value : complain(node, ...problem)
  }

  const secret = (node: Scalar): unknown => {
    const parsed = parseSecretTag(String(node.value))
    return 'problem' in parsed
      ? complain(node, parsed.problem.message, parsed.problem.remedy)
      : Object.assign(Object.create(null), { secret: parsed.reference })
  }

  return { value: visit(document.contents), complaints, pairs, targets }
}

/** Numbers that would not come out as they were written: 0644 as 644, 1.10 as 1.1, 12e3 as 12000. */
const numberProblem = ({ value, source = '' }: Scalar): [message: string, remedy: string] | undefined => {
  if (typeof value !== 'number') return undefined
  if (Number.isFinite(value) && String(value) === source) return undefined
  return [
    `${source} would be read as the number ${value}.`,
    `Write "${source}" if it is a text, or the number in its plain form.`,
  ]
}
