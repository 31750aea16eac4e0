import type { Node } from 'yaml'
import { isAlias, isMap, isSeq } from 'yaml'
import type { YamlData } from './yaml-data.ts'

interface Found {
  readonly key?: Node
  readonly value: Node | null
}

/** The node at a path, or the last one on the way to it. */
export const nearestNode = (data: YamlData, root: Node | null, path: readonly (string | number)[]): Found => {
  let found: Found = { value: root }
  for (const step of path) {
    const child = childOf(data, found.value, step)
    if (child === undefined) break
    found = child
  }
  return found
}

export const mappingKeys = (data: YamlData, node: Node | null): string[] => {
  const whole = isAlias(node) ? data.targets.get(node) : node
  return isMap(whole) ? [...(data.pairs.get(whole)?.keys() ?? [])] : []
}

const childOf = (data: YamlData, node: Node | null, step: string | number): Found | undefined => {
  const whole = isAlias(node) ? data.targets.get(node) : node
  if (isSeq(whole)) {
    const item = typeof step === 'number' ? (whole.items[step] as Node | undefined) : undefined
    return item && { value: item }
  }
  const pair = isMap(whole) ? data.pairs.get(whole)?.get(String(step)) : undefined
  return pair && { key: pair.key as Node, value: pair.value as Node | null }
}
