import type { Change } from '../../../src/changes/change.ts'
import { predict } from '../../../src/changes/predict.ts'
import { probeKey } from '../../../src/facts/fact.ts'
import { absent } from '../../../src/facts/node.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { lookUp, place } from '../../../src/facts/tree.ts'
import type { UnitProperty, UnitState } from '../../../src/facts/unit.ts'
import { Unknown } from '../../../src/facts/unknown.ts'
import type { HostPlay } from '../../../src/playbook/playbook.ts'
import { questionOf } from '../../../src/runner/converge.ts'
import { planHost } from '../../../src/runner/plan.ts'
import { segmentOf } from '../../../src/runner/reboot.ts'
import { hostRoots } from '../../../src/tasks/agent/paths.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { nspawnFiles, scriptsBelow, trees, unitFiles, units, wantsLinks } from '../../../src/tasks/reset/belongings.ts'
import type { Finding } from '../../../src/tasks/task.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

/** What the agent's own reset does on such a host. */
type OwnReset = 'does all' | 'forgets the host root' | 'fails half way'

export interface Ending {
  readonly state: HostState
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
  /** How many changes had been made at each look. */
  readonly looks: readonly number[]
  readonly error?: string
}

export const hostFor = (play: HostPlay, literal: HostLiteral): HostState =>
  seen(hostState(literal, questionOf(play, tasks).facts))

interface Options {
  readonly own?: OwnReset
  /** The run is cut after that many changes. */
  readonly limit?: number
  /** Asked after each change. */
  readonly after?: (state: HostState, change: Change) => void
}

/** What a run does on a host that does what it is told. */
export const carryOut = (
  play: HostPlay,
  start: HostState,
  { own = 'does all', limit, after }: Options = {},
): Ending => {
  const changes: Change[] = []
  const lasting: Finding[] = []
  const looks: number[] = []
  let state = seen(start)
  while (looks.length < 12) {
    looks.push(changes.length)
    const plan = planHost(play, tasks, state)
    const findings = [...lasting, ...plan.steps.flatMap((step) => step.findings)]
    lasting.push(...plan.steps.flatMap((step) => step.findings.filter((finding) => finding.lasting)))
    const ended = (error?: string): Ending => ({
      state: seen(state),
      changes,
      findings,
      looks,
      ...(error !== undefined && { error }),
    })
    const error = plan.steps.find((step) => step.error !== undefined)?.error
    if (error !== undefined) return ended(`${error.code}: ${error.message} ${error.remedy}`)
    const planned = segmentOf(plan).changes
    if (planned.length === 0) {
      const waiting = plan.steps.find(({ status }) => status === 'unknown')
      return ended(waiting === undefined ? undefined : `waits: ${waiting.why}`)
    }
    for (const { change } of planned) {
      if (changes.length === limit) return ended()
      const failed = `failed: ${change.failure?.code} ${change.failure?.remedy}`
      if (change.kind === 'await' && change.condition.is === 'gone' && isThere(state, change.condition.path))
        return ended(failed)
      state = made(state, change, own)
      changes.push(change)
      after?.(state, change)
      if (isOwnReset(change) && own === 'fails half way') return ended(failed)
    }
    state = seen({ ...state, self: { ...state.self, owed: [] } })
  }
  throw new Error('no end')
}

export const isOwnReset = (change: Change): boolean => change.kind === 'run' && change.argv.at(-1) === 'reset'

const made = (state: HostState, change: Change, own: OwnReset): HostState => {
  const { spoils: _, ...bare } = change
  const after = predict(state, bare as Change)
  if (change.kind === 'systemctl' && change.verb === 'disable') return without(after, wantsLinks(change.unit))
  if (change.kind !== 'run') return after
  if (isOwnReset(change)) return ownReset(after, own)
  const said = after.probes.get(network) as { stdout: string }
  const lines = change.argv[0]?.endsWith('nft') ? /^table=present\n/m : /^interface=localdns\n/m
  if (!change.argv.some((word) => word.endsWith('nft') || word.endsWith('ip'))) return after
  return {
    ...after,
    probes: new Map(after.probes).set(network, {
      code: 0,
      stdout: said.stdout.replace(lines, '').replace(/^(?!table)/, 'table=absent\n'),
    }),
  }
}

const network = probeKey('network-left', [])

const ownReset = (state: HostState, own: OwnReset): HostState => {
  const stopped = without(state, [
    ...unitFiles,
    ...units.flatMap(wantsLinks),
    '/etc/systemd/system/aks-flex-node-agent.service',
  ])
  const down = new Map(
    [...stopped.units].map(([name, unit]): [string, UnitState] =>
      units.includes(name)
        ? [name, { ...unit, exe: '', properties: { ...unit.properties, ActiveState: 'inactive', MainPID: '0' } }]
        : [name, unit],
    ),
  )
  if (own === 'fails half way') return { ...stopped, units: down }
  const [, legacy] = hostRoots
  const helpers = (own === 'does all' ? hostRoots : [legacy]).flatMap(scriptsBelow)
  const rest = without({ ...stopped, units: down }, [...helpers, ...nspawnFiles, ...trees])
  const stdout = 'table=absent\nwhole=yes\n'
  return { ...rest, probes: new Map(rest.probes).set(network, { code: 0, stdout }) }
}

const without = (state: HostState, paths: readonly string[]): HostState => ({
  ...state,
  tree: paths.reduce(
    (tree, path) => (isThere({ ...state, tree }, path) ? place(tree, path, absent) : tree),
    state.tree,
  ),
})

export const isThere = ({ tree }: Pick<HostState, 'tree'>, path: string): boolean => {
  const node = lookUp(tree, path)
  return node !== undefined && !(node instanceof Unknown) && node.type !== 'absent'
}

/** The next look at it: what nobody could predict is what such a host says. */
export const seen = (state: HostState): HostState => {
  const tree = {
    nodes: new Map([...state.tree.nodes].map(([path, node]) => [path, node instanceof Unknown ? absent : node])),
  }
  const known = { ...state, tree }
  return {
    ...known,
    units: new Map([...state.units].map(([name, unit]) => [name, unitSeen(known, name, unit)])),
    commands: new Map(
      [...state.commands].map(([key, said]) => [key, said instanceof Unknown ? { code: 1, stdout: '' } : said]),
    ),
    probes: new Map(
      [...state.probes].map(([key, said]) => {
        const [name, path = ''] = JSON.parse(key.slice('probe:'.length)) as string[]
        if (name !== 'agent-version') return [key, said instanceof Unknown ? { code: 0, stdout: '' } : said]
        const node = lookUp(tree, path, true)
        const runs = state.probes.get(key)
        const isFile = node !== undefined && !(node instanceof Unknown) && node.type === 'file'
        return [key, isFile ? (runs ?? { code: 127, stdout: '' }) : { code: 127, stdout: '' }]
      }),
    ),
  }
}

const ours = new Set(units)

const unitSeen = (state: HostState, name: string, unit: UnitState): UnitState => {
  const values = Object.entries(unit.properties).map(([key, value]) => [key, value instanceof Unknown ? '' : value])
  const properties = Object.fromEntries(values) as Record<UnitProperty, string>
  const exe = unit.exe instanceof Unknown ? '' : unit.exe
  const { pending: _, ...rest } = unit
  if (!ours.has(name)) return { ...rest, exe, properties }
  const isLoaded = name.startsWith('systemd-nspawn@') || isThere(state, `/etc/systemd/system/${name}`)
  const isEnabled = wantsLinks(name).some((path) => isThere(state, path))
  return {
    ...rest,
    exe,
    properties: {
      ...properties,
      LoadState: isLoaded ? 'loaded' : 'not-found',
      UnitFileState: isLoaded ? (isEnabled ? 'enabled' : 'disabled') : '',
      ActiveState: properties.ActiveState || 'inactive',
      NeedDaemonReload: 'no',
    },
  }
}
