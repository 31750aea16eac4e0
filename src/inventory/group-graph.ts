import type { GroupDraft } from './merge.ts'
import type { FaultList } from './positions.ts'
import { faultAt } from './positions.ts'

type Groups = ReadonlyMap<string, GroupDraft>
type Parents = ReadonlyMap<string, ReadonlySet<string>>

export const parentsOf = (groups: Groups): Parents => {
  const parents = new Map([...groups.keys()].map((name) => [name, new Set<string>()]))
  for (const group of groups.values()) {
    for (const child of group.children.keys()) parents.get(child)?.add(group.name)
  }
  return parents
}

/** All groups above the given ones. Ends on cycles, too. */
export const groupsAbove = (names: Iterable<string>, parents: Parents): Set<string> => {
  const above = new Set<string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const parent of parents.get(name) ?? []) {
      if (!above.has(parent)) waiting.push(parent)
      above.add(parent)
    }
  }
  return above
}

/** Takes away groups without parents until none is left; what remains holds the cycles. No recursion: chains may be long. */
export const refuseCycles = (groups: Groups, list: FaultList): void => {
  const parents = parentsOf(groups)
  const left = new Map([...parents].map(([name, above]) => [name, above.size]))
  const free = [...left.keys()].filter((name) => left.get(name) === 0)
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    left.delete(name)
    for (const child of groups.get(name)?.children.keys() ?? []) {
      const count = (left.get(child) ?? 0) - 1
      if (left.has(child)) left.set(child, count)
      if (count === 0) free.push(child)
    }
  }
  for (let [start] = left.keys(); start !== undefined; [start] = left.keys()) {
    const { path, cycle } = climb(start, left, parents)
    if (cycle.length > 0) reportCycle(cycle, groups, list)
    for (const name of cycle.length > 0 ? cycle : path) left.delete(name)
  }
}

/** Goes from parent to parent until one comes again, or none is left. */
const climb = (
  start: string,
  left: ReadonlyMap<string, number>,
  parents: Parents,
): { path: string[]; cycle: string[] } => {
  const path: string[] = []
  const steps = new Map<string, number>()
  for (let name: string | undefined = start; name !== undefined; ) {
    const before = steps.get(name)
    if (before !== undefined) return { path, cycle: path.slice(before).reverse() }
    steps.set(name, path.length)
    path.push(name)
    name = [...(parents.get(name) ?? [])].find((parent) => left.has(parent))
  }
  return { path, cycle: [] }
}

const reportCycle = (cycle: readonly string[], groups: Groups, list: FaultList): void => {
  const [first = ''] = cycle
  const group = groups.get(first)
  const at = group?.children.get(cycle[1] ?? first) ?? group?.at
  if (at === undefined) return
  list.add(
    faultAt(at, `Group ${first} contains itself: ${[...cycle, first].join(' > ')}.`, 'Remove one of these children.'),
  )
}
