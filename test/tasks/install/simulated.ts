import type { Change } from '../../../src/changes/change.ts'
import { debtOf } from '../../../src/changes/compile.ts'
import { summaryOf } from '../../../src/changes/describe.ts'
import { predict } from '../../../src/changes/predict.ts'
import { probeKey } from '../../../src/facts/fact.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { canonical, lookUp, place } from '../../../src/facts/tree.ts'
import { Unknown } from '../../../src/facts/unknown.ts'
import { viewOf } from '../../../src/facts/view.ts'
import type { Host, Vars } from '../../../src/inventory/host.ts'
import type { HostPlay } from '../../../src/playbook/playbook.ts'
import { questionOf } from '../../../src/runner/converge.ts'
import { planHost } from '../../../src/runner/plan.ts'
import { segmentOf } from '../../../src/runner/reboot.ts'
import { agentUnitFile, configFile, hostRoots, layoutEntry } from '../../../src/tasks/agent/paths.ts'
import { ownPreflightArgs } from '../../../src/tasks/install/own-preflight.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { preparedPlay, shippedPlay } from '../../playbook/shipped.ts'
import { aHost, daemonState } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'
import { fakeReleases } from '../switch/release.ts'
import { fine } from './hosts.ts'

/** The shipped playbook on one host, with what it names fetched. */
export const installPlay = (extraVars: Vars, host: Host = aHost()): Promise<HostPlay> =>
  preparedPlay(shippedPlay('install', extraVars, host), fakeReleases)

export const hostFor = (play: HostPlay, literal: HostLiteral): HostState =>
  withAnswers(hostState(literal, questionOf(play, tasks).facts))

export interface Ending {
  readonly state: HostState
  readonly changes: readonly Change[]
  /** Code of the error, where one ended it. */
  readonly error?: string
  readonly segments: number
}

/** What a run does, on a host that does exactly what it is told. At most `limit` changes: then the run is cut. */
export const carryOut = (play: HostPlay, start: HostState, limit = Number.POSITIVE_INFINITY): Ending => {
  const done: Change[] = []
  let state = start
  for (let segment = 0; segment < 12; segment += 1) {
    const plan = planHost(play, tasks, state)
    const error = plan.steps.find((step) => step.error !== undefined)?.error
    if (error !== undefined)
      return { state, changes: done, segments: segment, error: `${error.code}: ${error.message}` }
    const { changes } = segmentOf(plan)
    if (changes.length === 0) {
      const waiting = plan.steps.find(({ status }) => status === 'unknown')
      return {
        state,
        changes: done,
        segments: segment,
        ...(waiting !== undefined && { error: `waits: ${waiting.why}` }),
      }
    }
    for (const [index, { change }] of changes.entries()) {
      if (done.length >= limit)
        return { state: owing(state, changes.slice(0, index), changes.slice(index)), changes: done, segments: segment }
      state = made(state, change)
      done.push(change)
    }
    state = withAnswers(owing(state, [], []))
  }
  return { state, changes: done, segments: 12, error: 'no end' }
}

type Listed = readonly { readonly change: Change }[]

/** What a cut run leaves to be paid: the reload that was to come after what it wrote. */
const owing = (state: HostState, before: Listed, after: Listed): HostState => {
  const debts = after.map(({ change }) => debtOf(change)).filter((debt) => debt !== null)
  const wrote = before.some(({ change }) => !['systemctl', 'await'].includes(change.kind))
  const paid = before.some(({ change }) => debtOf(change) !== null)
  return { ...state, self: { ...state.self, owed: wrote && !paid ? [...new Set(debts)] : [] } }
}

/** The host after a change: as predicted, with what nobody could predict as it comes about here. */
const made = (state: HostState, change: Change): HostState => {
  const { spoils: _, ...bare } = change
  switch (change.kind) {
    case 'package':
      return {
        ...state,
        packages: new Map([...state.packages].map(([name, value]) => [name, value ?? '1.0'])),
        programs: new Map([...state.programs].map(([name, value]) => [name, value ?? `/usr/bin/${name}`])),
      }
    case 'run':
      return joined(state)
    case 'systemctl':
      if (change.verb === 'enable') return enabled(state)
      if (change.verb === 'start') return started(state)
      return predict(state, bare as Change)
    default:
      return predict(state, bare as Change)
  }
}

const agentUnit = 'aks-flex-node-agent.service'

const enabled = (state: HostState): HostState => {
  const path = `/etc/systemd/system/multi-user.target.wants/${agentUnit}`
  return withUnit(
    { ...state, tree: place(state.tree, path, { type: 'symlink', target: agentUnitFile }) },
    { UnitFileState: 'enabled' },
  )
}

const started = (state: HostState): HostState => {
  const root = hostRoots.find((each) => exists(state, layoutEntry(each, 'current')))
  const exe = canonical(state.tree, layoutEntry(root ?? hostRoots[0], 'current'), true)
  const up = withUnit(state, { ActiveState: 'active', SubState: 'running', MainPID: '42' })
  const unit = up.units.get(agentUnit)
  if (unit === undefined) throw new Error('no unit was asked about')
  return { ...up, units: new Map(up.units).set(agentUnit, { ...unit, exe }) }
}

/** The agent's own `start`: state, and its unit enabled and started. */
const joined = (state: HostState): HostState => {
  const files = hostState({ paths: daemonState('kube1') }).tree.nodes
  let { tree } = state
  for (const path of Object.keys(daemonState('kube1'))) tree = place(tree, path, files.get(path) ?? { type: 'absent' })
  return started(enabled({ ...state, tree }))
}

const withUnit = (state: HostState, values: Record<string, string>): HostState => {
  const unit = state.units.get(agentUnit)
  if (unit === undefined) throw new Error('no unit was asked about')
  return {
    ...state,
    units: new Map(state.units).set(agentUnit, { ...unit, properties: { ...unit.properties, ...values } }),
  }
}

const exists = (state: HostState, path: string): boolean => {
  const node = lookUp(state.tree, path, true)
  return node !== undefined && !(node instanceof Unknown) && node.type === 'file'
}

/** What the next look at the host is told by the agent that lies ready. */
export const withAnswers = (state: HostState): HostState => ({
  ...state,
  probes: new Map([
    ...state.probes,
    ...hostRoots.map((root): [string, { code: number; stdout: string }] => {
      const asked =
        exists(state, layoutEntry(root, 'current')) && exists(state, configFile) && !exists(state, agentUnitFile)
      return [probeKey('agent-preflight', ownPreflightArgs(root)), { code: 0, stdout: asked ? fine : '' }]
    }),
  ]),
})

/** What lies on the host, to be compared. */
export const treeOf = ({ tree }: HostState): Record<string, string> =>
  Object.fromEntries(
    [...tree.nodes]
      .flatMap(([path, node]): [string, string][] => {
        if (node instanceof Unknown) return [[path, 'unknown']]
        switch (node.type) {
          case 'file':
            return [[path, `${node.mode.toString(8)} ${String(node.sha256)}`]]
          case 'symlink':
            return [[path, `-> ${node.target}`]]
          case 'directory':
            return [[path, node.mode.toString(8)]]
          default:
            return []
        }
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

export const unitOf = (state: HostState) => {
  const unit = viewOf(state).unit(agentUnit)
  return {
    active: unit.get('ActiveState'),
    load: unit.get('LoadState'),
    file: unit.get('UnitFileState'),
    exe: unit.exe,
  }
}

export const summaries = (changes: readonly Change[]): string[] => changes.map(summaryOf)
