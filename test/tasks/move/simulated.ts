import type { Change } from '../../../src/changes/change.ts'
import { debtOf } from '../../../src/changes/compile.ts'
import { predict } from '../../../src/changes/predict.ts'
import { withValues } from '../../../src/changes/spoil.ts'
import { absent } from '../../../src/facts/node.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { canonical, lookUp, place } from '../../../src/facts/tree.ts'
import type { UnitProperty, UnitState } from '../../../src/facts/unit.ts'
import { Unknown } from '../../../src/facts/unknown.ts'
import type { HostPlay } from '../../../src/playbook/playbook.ts'
import { questionOf } from '../../../src/runner/converge.ts'
import { planHost } from '../../../src/runner/plan.ts'
import { segmentOf } from '../../../src/runner/reboot.ts'
import { hostRootAgents, LEGACY, libraryDirectory, movingMark } from '../../../src/tasks/agent/paths.ts'
import { layoutFiles } from '../../../src/tasks/move/files.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { type HostLiteral, hostState } from '../host-state.ts'
import { agent } from './moving.ts'

/** Whether an agent that finds itself moving makes the second pass at its start. */
export type AgentKind = 'finishes the move' | 'holds, and finishes nothing'

export const hostFor = (play: HostPlay, literal: HostLiteral): HostState =>
  seen(hostState(literal, questionOf(play, tasks).facts))

interface Ending {
  readonly state: HostState
  readonly made: number
  readonly error?: string
}

/** What a run does on a host that does what it is told; after `limit` changes the run is cut. */
export const carryOut = (
  play: HostPlay,
  start: HostState,
  kind: AgentKind,
  limit = Number.POSITIVE_INFINITY,
): Ending => {
  let [state, made] = [start, 0]
  for (let segment = 0; segment < 12; segment += 1) {
    const plan = planHost(play, tasks, state)
    const wrong =
      plan.steps.find((step) => step.error !== undefined)?.error ?? plan.steps.find((step) => step.fails)?.fails
    if (wrong !== undefined) return { state, made, error: `${wrong.code}: ${wrong.message}` }
    const { changes } = segmentOf(plan)
    if (changes.length === 0) {
      const waiting = plan.steps.find(({ status }) => status === 'unknown')
      return { state, made, ...(waiting !== undefined && { error: `waits: ${waiting.why}` }) }
    }
    for (const [index, { change }] of changes.entries()) {
      if (made >= limit) return { state: seen(owing(state, changes.slice(index))), made }
      state = after(state, change, kind)
      made += 1
    }
    state = seen({ ...state, self: { ...state.self, owed: [] } })
  }
  return { state, made, error: 'no end' }
}

/** What a cut run leaves to be paid by the next: what it wrote has to be loaded. */
const owing = (state: HostState, left: readonly { readonly change: Change }[]): HostState => {
  const isPending = [...state.units.values()].some(({ pending = [] }) => pending.length > 0)
  const debts = isPending ? left.map(({ change }) => debtOf(change)).filter((debt) => debt !== null) : []
  return { ...state, self: { ...state.self, owed: [...new Set(debts)] } }
}

const after = (state: HostState, change: Change, kind: AgentKind): HostState => {
  const { spoils: _, ...bare } = change
  const made = predict(state, bare as Change)
  const isStart = change.kind === 'systemctl' && (change.verb === 'restart' || change.verb === 'start')
  return isStart ? started(made, kind) : made
}

const started = (state: HostState, kind: AgentKind): HostState => {
  const unit = state.units.get(agent) as UnitState
  const path = /path=(\S+)/.exec(String(unit.properties.ExecStart))?.[1] ?? ''
  const exe = canonical(state.tree, path, true) as string
  const units = new Map(state.units).set(agent, { ...withValues(unit, { MainPID: '43', ActiveState: 'active' }), exe })
  const isMoving = fileAt(state, movingMark) && !exe.startsWith(`${LEGACY}/`)
  const files = [...layoutFiles(LEGACY), libraryDirectory(LEGACY), hostRootAgents, movingMark]
  const tree =
    isMoving && kind === 'finishes the move'
      ? files.reduce((left, file) => place(left, file, absent), state.tree)
      : state.tree
  return { ...state, units, tree }
}

const fileAt = (state: HostState, path: string): boolean => {
  const node = lookUp(state.tree, path, true)
  return node !== undefined && !(node instanceof Unknown) && node.type === 'file'
}

/** The next look at it: what nobody could predict is what an idle host says, and each binary says its version. */
const seen = (state: HostState): HostState => ({
  ...state,
  units: new Map([...state.units].map(([name, unit]) => [name, known(unit)])),
  tree: { nodes: new Map([...state.tree.nodes].map(([path, node]) => [path, readable(node)])) },
  commands: new Map(
    [...state.commands].map(([key, said]) => [key, said instanceof Unknown ? { code: 1, stdout: '' } : said]),
  ),
  probes: new Map(
    [...state.probes].map(([key, said]) => {
      const [name, path = ''] = JSON.parse(key.slice('probe:'.length)) as string[]
      if (name !== 'agent-version') return [key, said]
      const version = `Version: ${path.endsWith('green') || path.endsWith('last-good') ? 'v0.3.0' : 'v0.4.0'}\n`
      return [key, fileAt(state, path) ? { code: 0, stdout: version } : { code: 127, stdout: '' }]
    }),
  ),
})

const known = (unit: UnitState): UnitState => {
  const values = Object.entries(unit.properties).map(([name, value]) => [name, value instanceof Unknown ? '' : value])
  return { ...unit, properties: Object.fromEntries(values) as Record<UnitProperty, string> }
}

/** What was copied is read like any other file: the copies of these hosts are told apart by their digests. */
const readable = (node: HostState['tree']['nodes'] extends ReadonlyMap<string, infer N> ? N : never) =>
  !(node instanceof Unknown) && node.type === 'file' && node.content instanceof Unknown
    ? { ...node, content: new Uint8Array() }
    : node
