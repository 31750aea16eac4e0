import { globMatcher, isGlob } from './glob.ts'
import type { Host, Inventory } from './host.ts'
import type { Problem } from './names.ts'
import { quoted } from './names.ts'
import { countNames, expandNames, hostLimit, isRange, parseRanges } from './ranges.ts'
import { matchRegex } from './regex-match.ts'

/** An inventory, prepared for looking up the names of patterns. */
export interface HostIndex {
  readonly hosts: readonly Host[]
  readonly byName: ReadonlyMap<string, Host>
  readonly groups: ReadonlyMap<string, readonly Host[]>
}

export const hostIndex = (inventory: Inventory): HostIndex => {
  const groups = new Map<string, Host[]>(inventory.groups.map((group) => [group.name, []]))
  for (const host of inventory.hosts) {
    for (const group of host.groups) groups.get(group)?.push(host)
  }
  return { hosts: inventory.hosts, byName: new Map(inventory.hosts.map((host) => [host.name, host])), groups }
}

/** The hosts of one term, without regard to their order; undefined where nothing has such a name. */
export const matchTerm = (
  text: string,
  index: HostIndex,
  regexTimeoutMs: number,
): readonly Host[] | { problem: Problem } | undefined => {
  const named = hostsNamed(text, index)
  if (named !== undefined) return named
  if (text.startsWith('~')) return matchByRegex(text.slice(1), index, regexTimeoutMs)
  const part = subscript(text, index) ?? range(text, index)
  if (part !== undefined) return part
  if (!isGlob(text)) return undefined
  const matches = globMatcher(text)
  return hostsWhere(index, matches)
}

const hostsNamed = (text: string, { byName, groups }: HostIndex): readonly Host[] | undefined => {
  const host = byName.get(text) ?? byName.get(text.replace(/^\[(.*)\]$/, '$1'))
  return host === undefined ? groups.get(text) : [host]
}

/** Hosts whose own name, or the name of a group of theirs, is the kind wanted; undefined if there is no such name. */
const hostsWhere = ({ hosts, groups }: HostIndex, isWanted: (name: string) => boolean): Host[] | undefined => {
  const wanted = [...groups.keys()].filter(isWanted)
  const found = new Set(wanted.flatMap((group) => groups.get(group) ?? []))
  for (const host of hosts) if (isWanted(host.name)) found.add(host)
  return wanted.length + found.size > 0 ? [...found] : undefined
}

const matchByRegex = (source: string, index: HostIndex, timeoutMs: number) => {
  const names = [...index.groups.keys(), ...index.byName.keys()]
  const outcome = matchRegex(source, names, timeoutMs)
  if ('problem' in outcome) return { problem: regexProblems[outcome.problem](source) }
  const wanted = new Set(names.filter((_, position) => outcome.matches[position]))
  return hostsWhere(index, (name) => wanted.has(name))
}

const regexProblems: { [problem in 'invalid' | 'too-slow']: (source: string) => Problem } = {
  invalid: (source) => ({
    message: `~${quoted(source)} is no regular expression.`,
    remedy: 'Correct it; the syntax is that of JavaScript.',
  }),
  'too-slow': (source) => ({
    message: `~${quoted(source)} takes too long.`,
    remedy: 'Avoid repetitions within repetitions.',
  }),
}

/** `web[0]`, `web[-1]`, `web[1:5]` (both ends included), `web[2:]`: by position in a group. */
const subscript = (text: string, { groups }: HostIndex): readonly Host[] | undefined => {
  const [, name = '', first, colon, last] = /^(.+)\[(-?\d+)(?:(:)(-?\d*))?\]$/.exec(text) ?? []
  const hosts = groups.get(name)
  if (hosts === undefined) return undefined
  const position = (number: string): number => (number.startsWith('-') ? hosts.length + Number(number) : Number(number))
  const from = position(first ?? '')
  const to = colon === undefined ? from : last === '' ? hosts.length - 1 : position(last ?? '')
  const chosen = hosts.filter((_, place) => place >= from && place <= to)
  return chosen.length > 0 ? chosen : undefined
}

const range = (text: string, { byName }: HostIndex): Host[] | { problem: Problem } | undefined => {
  if (![...text.matchAll(/\[([^\]]*)\]/g)].some(([, inside = '']) => isRange(inside))) return undefined
  const ranges = parseRanges(text)
  if ('problem' in ranges) return ranges
  if (countNames(ranges.parts) > hostLimit) {
    return {
      problem: { message: `${quoted(text)} is more than ${hostLimit} hosts.`, remedy: 'Write a smaller range, or *.' },
    }
  }
  const found = expandNames(ranges.parts).flatMap((name) => byName.get(name) ?? [])
  return found.length > 0 ? found : undefined
}
