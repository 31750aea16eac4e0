import { isDeepStrictEqual } from 'node:util'
import { entryNames } from './entry-names.ts'
import { nameProblem } from './names.ts'
import type { FaultList, Located, Position } from './positions.ts'
import { faultAt, showPosition } from './positions.ts'
import { hostLimit } from './ranges.ts'
import { withoutUrlSecretsIn } from './shown-urls.ts'
import type { GroupEntry, HostEntry, Level, Source } from './source.ts'
import { emptyLevel } from './source.ts'

/** All sources as one, ranges expanded, before anything is inherited. */
export interface Draft {
  readonly hosts: Map<string, HostDraft>
  readonly groups: Map<string, GroupDraft>
  readonly complete: boolean
}

export interface HostDraft {
  readonly name: string
  readonly at: Position
  level: Level
  /** The top levels of the sources that declare the host: those of other sources are none of its business. */
  readonly tops: Set<Level>
  /** The groups that name the host themselves. */
  readonly groups: Set<string>
}

export interface GroupDraft {
  readonly name: string
  readonly at: Position
  level: Level
  readonly hosts: Set<string>
  readonly members: Located<string>[]
  readonly children: Map<string, Position>
}

export const mergeSources = (sources: readonly Source[], list: FaultList): Draft => {
  const complete = sources.every((source) => source.complete)
  const draft: Draft = { hosts: new Map(), groups: new Map(), complete }
  for (const source of sources) {
    const declare = (entry: HostEntry): HostDraft[] => declareHosts(draft, entry, source.level, list)
    source.hosts.forEach(declare)
    for (const entry of source.groups) declareGroup(draft, entry, declare, list)
  }
  return draft
}

const declareGroup = (
  draft: Draft,
  entry: GroupEntry,
  declare: (host: HostEntry) => HostDraft[],
  list: FaultList,
): void => {
  const { value: name, at } = entry.name
  const problem = groupNameProblem(name)
  if (problem !== undefined) {
    list.add(faultAt(at, problem.message, problem.remedy))
    return
  }
  const group = draft.groups.get(name) ?? newGroup(entry.name)
  draft.groups.set(name, group)
  group.level = mergeLevels(group.level, entry.level, `Group ${name}`, list)
  for (const child of entry.children) group.children.set(child.value, child.at)
  for (const host of entry.hosts) {
    for (const added of declare(host)) addToGroup(group, added)
  }
  group.members.push(...entry.members)
}

const newGroup = ({ value: name, at }: Located<string>): GroupDraft => ({
  name,
  at,
  level: emptyLevel,
  hosts: new Set(),
  members: [],
  children: new Map(),
})

export const addToGroup = (group: GroupDraft, host: HostDraft): void => {
  group.hosts.add(host.name)
  host.groups.add(group.name)
}

const groupNameProblem = (name: string) =>
  name === 'all' || name === 'ungrouped'
    ? { message: `The group ${name} is made by drover.`, remedy: 'Put what is for every host at the top level.' }
    : nameProblem('group name', name)

const declareHosts = (draft: Draft, entry: HostEntry, top: Level, list: FaultList): HostDraft[] =>
  entryNames(entry.name, list).flatMap((name) => {
    const known = draft.hosts.get(name)
    if (known !== undefined) {
      known.level = mergeLevels(known.level, entry.level, `Host ${name}`, list)
      known.tops.add(top)
      return [known]
    }
    if (draft.hosts.size >= hostLimit) {
      const message = `From here on there are more than ${hostLimit} hosts.`
      list.add(faultAt(entry.name.at, message, 'Split the inventory.'), 'host-limit')
      return []
    }
    const host: HostDraft = { name, at: entry.name.at, level: entry.level, tops: new Set([top]), groups: new Set() }
    draft.hosts.set(name, host)
    return [host]
  })

const mergeLevels = (first: Level, second: Level, who: string, list: FaultList): Level => {
  // A range shares one level among thousands of hosts: keep it shared.
  if (second === emptyLevel || first === second) return first
  if (first === emptyLevel) return second
  return {
    settings: mergeFields(first.settings, second.settings, who, list),
    vars: mergeFields(first.vars, second.vars, `${who}, variable`, list),
  }
}

const mergeFields = <F extends object>(first: F, second: F, who: string, list: FaultList): F => {
  const known = new Map<string, Located<unknown>>(Object.entries(first))
  for (const [key, found] of Object.entries<Located<unknown>>(second as Record<string, Located<unknown>>)) {
    const before = known.get(key)
    if (before !== undefined) addConflict(who, key, before, found, list)
  }
  return Object.assign(Object.create(null), second, first)
}

/** Two values where only one can hold: never the last one in silence. */
export const addConflict = (
  who: string,
  key: string,
  first: Located<unknown>,
  second: Located<unknown>,
  list: FaultList,
): void => {
  if (isDeepStrictEqual(first.value, second.value)) return
  const places = [showPosition(first.at), showPosition(second.at)]
  const message = `${who} ${key}: ${shown(second.value)} here, but ${shown(first.value)} at ${places[0]}.`
  const remedy = 'Keep one of the two values, or give the host its own.'
  list.add(faultAt(second.at, message, remedy), `conflict ${key} ${places.join(' ')}`)
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(withoutUrlSecretsIn(value))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
