import { isDeepStrictEqual } from 'node:util'
import { parentsOf, refuseCycles } from './group-graph.ts'
import type { GivenField, Group, Host, Inventory, Vars, VarValue } from './host.ts'
import { inheritance } from './inherit.ts'
import type { Hop, Traveller } from './jumps.ts'
import { connectJumps } from './jumps.ts'
import { joinMembers } from './membership.ts'
import type { Draft } from './merge.ts'
import { mergeSources } from './merge.ts'
import type { FaultList, Located } from './positions.ts'
import { refuseSameMachine } from './same-machine.ts'
import type { Level, Source } from './source.ts'
import { emptyLevel } from './source.ts'

/** Sources of whatever format become one inventory. The result is good only if no fault was added to the list. */
export const buildInventory = (sources: readonly Source[], defaultUser: string, list: FaultList): Inventory => {
  const draft = mergeSources(sources, list)
  joinMembers(draft, list)
  refuseCycles(draft.groups, list)
  const effectiveOf = inheritance(draft, list)
  const travellers = new Map<string, Traveller>()
  for (const hostDraft of draft.hosts.values()) {
    const { level, groups } = effectiveOf(hostDraft)
    const host = makeHost(hostDraft.name, level, groups, defaultUser)
    travellers.set(host.name, { host, via: level.settings.jump })
  }
  connectJumps({
    travellers,
    stranger: (hop, file) => strangerHost(sources.find(({ name }) => name === file)?.level ?? emptyLevel, hop),
    complete: draft.complete,
    list,
  })
  const hosts = [...travellers.values()].map(({ host }) => host)
  refuseSameMachine(
    hosts.map((host) => ({ host, at: addressPosition(draft, host) })),
    list,
  )
  return { sources: sources.map((source) => source.name), hosts, groups: makeGroups(draft, sharedVars(sources)) }
}

const givenFields: readonly GivenField[] = [
  'address',
  'port',
  'user',
  'identityFiles',
  'jump',
  'knownHostsFiles',
  'hostKeyPolicy',
  'hostKeyAlias',
  'certificateFiles',
]

/** Settings that a host has only where they are given. */
const optionalFields = [
  'hostKeyAlias',
  'certificateFiles',
  'transport',
  'becomeMethod',
  'password',
  'becomePassword',
] as const

const makeHost = (name: string, { settings, vars }: Level, groups: readonly string[], defaultUser: string) => ({
  name,
  address: settings.address?.value ?? name,
  port: settings.port?.value ?? 22,
  user: settings.user?.value ?? defaultUser,
  identityFiles: settings.identityFiles?.value ?? [],
  become: settings.become?.value ?? false,
  jump: [] as Host[],
  variant: settings.variant?.value ?? 'host',
  offline: settings.offline?.value ?? false,
  knownHostsFiles: settings.knownHostsFiles?.value ?? [],
  hostKeyPolicy: settings.hostKeyPolicy?.value ?? 'strict',
  ...Object.fromEntries(
    optionalFields.flatMap((field) => (settings[field] === undefined ? [] : [[field, settings[field].value]])),
  ),
  given: givenFields.filter((field) => settings[field] !== undefined),
  groups,
  vars: plainVars(vars),
})

/** A hop outside the inventory: only the top level of the source that names it reaches it. */
const strangerHost = (top: Level, hop: Hop): Host => ({
  ...makeHost(hop.text, { settings: top.settings, vars: {} }, [], hop.user),
  address: hop.address,
  port: hop.port,
  user: hop.user,
  // Its address is what ssh_config's patterns are for; the user and port were written.
  given: [
    ...new Set<GivenField>([
      'user',
      'jump',
      ...(hop.isPortGiven ? (['port'] as const) : []),
      ...givenFields.filter((field) => field !== 'address' && field !== 'port' && top.settings[field] !== undefined),
    ]),
  ],
})

const addressPosition = (draft: Draft, host: Host) => {
  const hostDraft = draft.hosts.get(host.name)
  return hostDraft?.level.settings.address?.at ?? hostDraft?.at ?? { file: '', line: 1, column: 1 }
}

const makeGroups = (draft: Draft, vars: Vars): Group[] => {
  const parents = parentsOf(draft.groups)
  const tops = [...draft.groups.keys()].filter((name) => parents.get(name)?.size === 0)
  const loners = [...draft.hosts.values()].filter((host) => host.groups.size === 0).map((host) => host.name)
  return [
    { name: 'all', hosts: [], children: ['ungrouped', ...tops], vars },
    { name: 'ungrouped', hosts: loners, children: [], vars: {} },
    ...[...draft.groups.values()].map(({ name, hosts, children, level }) => ({
      name,
      hosts: [...hosts],
      children: [...children.keys()],
      vars: plainVars(level.vars),
    })),
  ]
}

/** What holds for every host, whichever source declares it. */
const sharedVars = ([first, ...others]: readonly Source[]): Vars => {
  const isShared = ([key, { value }]: [string, Located<VarValue>]): boolean =>
    others.every(({ level }) => isDeepStrictEqual(level.vars[key]?.value, value))
  return plainVars(Object.fromEntries(Object.entries(first?.level.vars ?? {}).filter(isShared)))
}

/** Without a prototype, so that a variable named `constructor` is undefined unless the user defines it. */
const plainVars = (vars: Readonly<Record<string, Located<VarValue>>>): Vars => {
  const plain: Record<string, VarValue> = Object.create(null)
  for (const [key, { value }] of Object.entries(vars)) plain[key] = value
  return plain
}
