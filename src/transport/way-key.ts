import type { Host } from '../inventory/host.ts'

/** What a host is called and what is done there. Everything else, also what Host may get one day, bears on the way to it. */
const beside: ReadonlySet<string> = new Set<keyof Host>([
  'name',
  'become',
  'becomeMethod',
  'becomePassword',
  'jump',
  'variant',
  'offline',
  'transport',
  'given',
  'groups',
  'vars',
])

/** The same for hosts that one connection serves: reached alike, as the same user, and trusted for the same reasons. */
export const wayKey = (chain: readonly Host[]): string => JSON.stringify(chain.map(hopKey))

const hopKey = (hop: Host): readonly (readonly [string, unknown])[] =>
  Object.entries(hop)
    .filter(([field, value]) => !beside.has(field) && value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
