import { groupsAbove, parentsOf } from './group-graph.ts'
import type { Draft, GroupDraft, HostDraft } from './merge.ts'
import { addConflict } from './merge.ts'
import type { FaultList, Located } from './positions.ts'
import type { Level } from './source.ts'

/** What holds for one host once every level has had its say, and the groups it is in. */
interface Effective {
  readonly level: Level
  readonly groups: readonly string[]
}

type Fields = Readonly<Record<string, Located<unknown>>>

/** What the groups of a host give it. More than one value for a key: no group of them is above another. */
interface GroupView {
  readonly names: readonly string[]
  readonly settings: ReadonlyMap<string, readonly Located<unknown>[]>
  readonly vars: ReadonlyMap<string, readonly Located<unknown>[]>
}

/** Nearest wins: the host, then a group before those above it, then the top level of what declares the host. */
export const inheritance = (draft: Draft, list: FaultList): ((host: HostDraft) => Effective) => {
  const views = new Map<string, GroupView>()
  const viewOf = groupViews(draft)
  return (host) => {
    const direct = [...host.groups].sort()
    // Thousands of hosts share few combinations of groups.
    const key = direct.join(' ')
    const view = views.get(key) ?? viewOf(direct)
    views.set(key, view)
    const tops = [...host.tops]
    const settings = settle(host.name, list, {
      own: host.level.settings as Fields,
      inherited: view.settings,
      tops: tops.map((top) => top.settings as Fields),
    })
    const vars = settle(`${host.name}, variable`, list, {
      own: host.level.vars,
      inherited: view.vars,
      tops: tops.map((top) => top.vars),
    })
    // Fields keep their names and types on the way from level to level.
    return { level: { settings, vars } as Level, groups: ['all', ...(direct.length > 0 ? view.names : ['ungrouped'])] }
  }
}

interface Layers {
  readonly own: Fields
  readonly inherited: ReadonlyMap<string, readonly Located<unknown>[]>
  readonly tops: readonly Fields[]
}

const settle = (who: string, list: FaultList, { own, inherited, tops }: Layers): Fields => {
  const settled: Record<string, Located<unknown>> = Object.create(null)
  for (const top of tops) {
    for (const [key, found] of Object.entries(top)) {
      const before = settled[key]
      if (before === undefined) settled[key] = found
      else if (!Object.hasOwn(own, key) && !inherited.has(key)) addConflict(`Host ${who}`, key, before, found, list)
    }
  }
  for (const [key, [first, ...others]] of inherited) {
    if (first === undefined || Object.hasOwn(own, key)) continue
    for (const other of others) addConflict(`Host ${who}`, key, first, other, list)
    settled[key] = first
  }
  return Object.assign(settled, own)
}

const groupViews = (draft: Draft): ((direct: readonly string[]) => GroupView) => {
  const parents = parentsOf(draft.groups)
  const order = new Map([...draft.groups.keys()].map((name, index) => [name, index]))
  const aboveOf = new Map<string, Set<string>>()
  const above = (name: string): Set<string> => {
    const known = aboveOf.get(name) ?? groupsAbove([name], parents)
    aboveOf.set(name, known)
    return known
  }
  const nearest = (groups: readonly GroupDraft[], fieldsOf: (level: Level) => Fields) => {
    const givers = new Map<string, GroupDraft[]>()
    for (const group of groups) {
      for (const key of Object.keys(fieldsOf(group.level))) givers.set(key, [...(givers.get(key) ?? []), group])
    }
    return new Map(
      [...givers].map(([key, candidates]) => {
        const outdone = new Set(candidates.flatMap((group) => [...above(group.name)]))
        const kept = candidates.filter((group) => !outdone.has(group.name))
        return [key, kept.flatMap((group) => fieldsOf(group.level)[key] ?? [])]
      }),
    )
  }
  return (direct) => {
    const all = new Set([...direct, ...groupsAbove(direct, parents)])
    const names = [...all].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
    const groups = names.flatMap((name) => draft.groups.get(name) ?? [])
    return {
      names,
      settings: nearest(groups, (level) => level.settings as Fields),
      vars: nearest(groups, (level) => level.vars),
    }
  }
}
