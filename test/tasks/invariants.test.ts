import { expect, test } from 'vitest'
import { parametersOf } from '../../src/cli/parameters.ts'
import { questionFor } from '../../src/facts/question.ts'
import type { HostState } from '../../src/facts/state.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { hostPlays } from '../../src/playbook/host-plays.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import { parseParams } from '../../src/playbook/params.ts'
import type { HostStep } from '../../src/playbook/playbook.ts'
import { planHost } from '../../src/runner/plan.ts'
import { tasks } from '../../src/tasks/registry.ts'
import type { Task } from '../../src/tasks/task.ts'
import { noProgram } from '../playbook/world.ts'
import { aHost, daemonState, laidOut, linksOn, runningHost, settledStates, stuckHost } from './deployed.ts'
import { planOn, predicted, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { installed, staged, up } from './install/hosts.ts'
import { legacy, linked, movedHost, moving2 } from './move/moving.ts'
import { hosts as toReset } from './reset/hosts.ts'
import { fakeReleases } from './switch/release.ts'

const all = [...tasks.values()].map((task): [string, Task] => [task.name, task])

/** The steps of a task's example that ask for this task, made ready by the loader that a user's playbook goes through. */
const stepsRead = (task: Task): HostStep[] => {
  const readFile = (path: string): Uint8Array => {
    if (path !== '/example.yaml') throw Object.assign(new Error('none'), { code: 'ENOENT' })
    return new TextEncoder().encode(task.example)
  }
  const playbook = loadPlaybook('/example.yaml', { shippedDir: '/none', cwd: '/', tasks, readFile })
  const host = aHost()
  const inventory = {
    sources: [],
    hosts: [host],
    groups: [{ name: 'all', hosts: [host.name], children: [], vars: {} }],
  }
  const [play] = hostPlays({
    playbook,
    inventory,
    hosts: [host],
    tasks,
    extraVars: {},
    cwd: '/',
    secrets: { env: { SP_CLIENT_SECRET: 's3cret' }, readFile, runProgram: noProgram },
  })
  return (play?.steps ?? []).filter((step) => step.task === task.name)
}

/** With what they name outside of the host fetched, as it is before any host is touched. */
const prepared = new Map(
  await Promise.all(
    all.map(async ([name, task]): Promise<[string, HostStep[]]> => {
      const steps = stepsRead(task)
      const params = await Promise.all(steps.map((step) => task.prepare?.(step.params, fakeReleases) ?? step.params))
      return [name, steps.map((step, index) => ({ ...step, params: params[index] }))]
    }),
  ),
)

const stepsOf = (task: Task): HostStep[] => prepared.get(task.name) ?? []

/** Hosts a task may meet: nothing there at all, nothing but unit files, an agent that runs, one that is stuck. */
const hosts = (task: Task, params: unknown): HostLiteral[] => {
  const names = task.facts(params, aHost()).flatMap((fact) => (fact.kind === 'unit' ? [fact.name] : []))
  const loaded = Object.fromEntries(names.map((name) => [name, { UnitFileState: 'disabled' }]))
  return [{}, { units: loaded }, runningHost(), stuckHost(), ...settledStates.map((state) => laidOut(state))]
}

const deepFrozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  if (value instanceof Map || value instanceof Set) {
    const refuse = (): never => {
      throw new Error('a plan changed the state it was given')
    }
    for (const [key, inner] of value.entries()) [key, inner].forEach(deepFrozen)
    Object.assign(value, { set: refuse, add: refuse, delete: refuse, clear: refuse })
  }
  Object.values(value).forEach(deepFrozen)
  return Object.freeze(value)
}

test.each(all)('%s says what it is', (name, task) => {
  expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
  expect(task.summary).toMatch(/^[A-Z].*\.$/s)
  for (const parameter of parametersOf(task.params)) {
    expect(parameter.name).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(parameter.description, `the description of ${parameter.name}`).toMatch(/\S/)
  }
})

test.each(all)('the example of %s is a playbook that uses it', (_, task) => {
  expect(stepsOf(task)).not.toHaveLength(0)
})

/** A host on which the example of a task acts, and what the next look at it shows of what nobody could predict. */
interface Acting {
  readonly host: HostLiteral
  readonly brings: HostLiteral
}

const armed: HostLiteral = { self: { rollback: { phase: 'armed', text: 'r0 ada@desk 2026 200 abc upgrade to v2' } } }

const stoppedAgent: NonNullable<HostLiteral['units']> = {
  'aks-flex-node-agent.service': { UnitFileState: 'disabled', ActiveState: 'inactive' },
}
/** What the looks after a reset say of the network and of mounts. */
const resetHost: HostLiteral = {
  probes: { 'network-left': 'table=absent\nwhole=yes\n', 'mounts-below': 'whole=yes\n' },
}
const keptLayout: HostLiteral = {
  paths: {
    '/opt/unbounded/agent/bin/aks-flex-node': { link: '/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-current' },
    '/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-blue': { file: 'ELF', mode: 0o755 },
  },
  probes: { 'mounts-below': 'whole=yes\n' },
}

const acting: Readonly<Record<string, Acting>> = {
  'agent-config-present': { host: {}, brings: {} },
  'agent-installed': { host: staged(), brings: {} },
  'agent-joined': { host: installed(), brings: installed({ paths: daemonState('kube1') }) },
  'agent-running': { host: installed(), brings: up() },
  'agent-staged': { host: {}, brings: {} },
  'first-boot-removed': { host: toReset.MOVED(), brings: {} },
  'first-boot-secrets-absent': { host: toReset.MOVED(), brings: {} },
  'host-packages-installed': {
    host: {},
    brings: { packages: { 'systemd-container': '252', curl: '8', nftables: '1', 'util-linux': '2' } },
  },
  'agent-configured': { host: laidOut('MOVED'), brings: laidOut('MOVED') },
  'agent-reset': { host: toReset.MOVED({ units: stoppedAgent }), brings: resetHost },
  'agent-rolled-back': { host: linksOn('MOVED', 'blue', 'green'), brings: linksOn('MOVED', 'green', 'green') },
  'agent-stopped': { host: toReset.MOVED(), brings: {} },
  'agent-swept': { host: toReset.MOVED({ units: stoppedAgent }), brings: resetHost },
  'agent-uninstalled': { host: keptLayout, brings: {} },
  'agent-upgraded': { host: laidOut('LINKED'), brings: linksOn('LINKED', 'green', 'blue') },
  command: {
    host: { commands: [[unlessOf('command'), { code: 1 }]] },
    brings: { commands: [[unlessOf('command'), { code: 0 }]] },
  },
  'directory-present': { host: { paths: { '/srv': { dir: true } } }, brings: {} },
  'file-present': { host: { paths: { '/etc/motd': { file: 'Welcome.' } } }, brings: {} },
  'host-root-awaited': { host: moving2(), brings: movedHost() },
  'host-root-linked': { host: legacy(), brings: {} },
  'host-root-moved': { host: linked(), brings: moving2() },
  'host-root-settled': { host: moving2({}, 900_000), brings: movedHost() },
  'host-root-unlinked': { host: linked(), brings: {} },
  'host-rebooted': {
    host: { paths: { '/run/reboot-required': { file: '' } } },
    brings: { commands: [[['needs-restarting', '-r'], { code: 0 }]] },
  },
  'link-present': { host: { paths: { '/etc/localtime': { link: '../usr/share/zoneinfo/CET' } } }, brings: {} },
  'machines-target-wired': { host: runningHost(), brings: {} },
  'package-present': { host: {}, brings: { packages: { 'systemd-container': '252', nftables: '1.0' } } },
  'path-absent': {
    host: {
      paths: { '/var/tmp/old-installer/a': { file: 'x' } },
      commands: [[['cut', '-d', ' ', '-f', '5', '/proc/self/mountinfo'], { code: 0, stdout: '/\n' }]],
    },
    brings: {},
  },
  'rollback-confirmed': { host: armed, brings: {} },
  'rollback-fired': { host: armed, brings: {} },
  'unit-enabled': {
    host: { units: { 'chronyd.service': { UnitFileState: 'disabled' } } },
    brings: {
      units: { 'chronyd.service': { UnitFileState: 'enabled', WantedBy: 'multi-user.target' } },
      paths: {
        '/etc/systemd/system/multi-user.target.wants/chronyd.service': {
          link: '/usr/lib/systemd/system/chronyd.service',
        },
      },
    },
  },
  'unit-running': {
    host: { units: { 'chronyd.service': { ActiveState: 'failed', Result: 'exit-code' } } },
    brings: {},
  },
  'worker-running': { host: stuckHost(), brings: { units: { 'systemd-nspawn@kube1.service': { MainPID: '43' } } } },
}

function unlessOf(name: string): string[] {
  const [step] = stepsOf(tasks.get(name) as Task) as [HostStep]
  return (step.params as { unless: string[] }).unless
}

/** The predicted state, with what it leaves unknown as a look at the host would then show it. */
const filled = (state: HostState, seen: HostState): HostState => {
  const fill = <K, V>(map: ReadonlyMap<K, V>, from: ReadonlyMap<K, V>): ReadonlyMap<K, V> =>
    new Map([...map].map(([key, value]) => [key, fillIn(value, from.get(key) as V)]))
  return {
    ...state,
    tree: { nodes: fill(state.tree.nodes, seen.tree.nodes) },
    units: fill(state.units, seen.units),
    packages: fill(state.packages, seen.packages),
    programs: fill(state.programs, seen.programs),
    commands: fill(state.commands, seen.commands),
    ports: fill(state.ports, seen.ports),
    probes: fill(state.probes, seen.probes),
  }
}

const fillIn = <T>(value: T, seen: T): T => {
  if (value instanceof Unknown) return seen
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, fillIn(inner, seen?.[key as keyof T])])
  return (Array.isArray(value) ? value : Object.fromEntries(entries)) as T
}

const changing = all.filter(([, task]) => task.isCheck !== true)

test('every task that changes anything has a host on which it does, and a check changes none', () => {
  expect(Object.keys(acting).sort()).toEqual(changing.map(([name]) => name).sort())
})

test.each(changing)('%s acts, and finds nothing left to do where its plan was carried out', (name, task) => {
  const { host, brings } = acting[name] as Acting
  for (const { params } of stepsOf(task)) {
    const state = stateFor(task, params, host)
    const first = planOn(task, params, state)
    expect(first).toMatchObject({ status: 'planned', changes: expect.arrayContaining([expect.anything()]) })
    const after = filled(predicted(state, first), stateFor(task, params, brings))
    expect(planOn(task, params, after)).toMatchObject({ status: 'planned', changes: [] })
  }
})

test.each(all)('whatever %s plans, on whatever host, it does not want more at once', (name, task) => {
  for (const { params } of stepsOf(task)) {
    for (const literal of [...hosts(task, params), ...(name in acting ? [(acting[name] as Acting).host] : [])]) {
      const state = stateFor(task, params, literal)
      const first = planOn(task, params, state)
      if (first.status !== 'planned') continue
      if (task.isCheck === true) expect(first.changes).toEqual([])
      const second = planOn(task, params, predicted(state, first))
      // What a change leaves unknown is for the next look at the host, and never a reason to do more now.
      if (second.status !== 'unknown') expect(second).toMatchObject({ status: 'planned', changes: [] })
    }
  }
})

test.each(all)(
  'no plan of %s waits for what only its own changes can make known: nothing would make them',
  (name, task) => {
    for (const step of stepsOf(task)) {
      for (const literal of [...hosts(task, step.params), ...(name in acting ? [(acting[name] as Acting).host] : [])]) {
        const state = stateFor(task, step.params, literal)
        const { steps } = planHost({ host: aHost(), steps: [{ ...step, when: null }] }, tasks, state)
        expect(steps.map(({ status }) => status)).not.toContain('unknown')
      }
    }
  },
)

test('nor does wiring that reloads, enables the target and restarts the agent at once', () => {
  const task = tasks.get('machines-target-wired') as Task
  const { value: params } = parseParams(task.params, { enable_target: true })
  const state = stateFor(task, params, stuckHost())
  const { steps } = planHost(
    { host: aHost(), steps: [{ name: 's', task: task.name, params, when: null }] },
    tasks,
    state,
  )
  expect(steps.flatMap(({ changes }) => changes.map(({ summary }) => summary))).toEqual(
    expect.arrayContaining([
      'systemctl daemon-reload',
      'systemctl enable machines.target',
      'systemctl restart aks-flex-node-agent.service',
    ]),
  )
})

test.each(all)('%s plans without touching what it is given, and the same each time', (_, task) => {
  for (const { params } of stepsOf(task)) {
    for (const literal of hosts(task, params)) {
      const state = deepFrozen(stateFor(task, deepFrozen(params), literal))
      expect(planOn(task, params, state)).toEqual(planOn(task, params, state))
    }
  }
})

test.each(all)('%s asks for the same facts each time, and for no fact it could not ask of a host', (_, task) => {
  for (const { params } of stepsOf(task)) {
    expect(task.facts(params, aHost())).toEqual(task.facts(params, aHost()))
    expect(() => questionFor(task.facts(params, aHost()))).not.toThrow()
  }
})

test.each(all)('no parameter of %s takes a key it does not know', (_, task) => {
  expect(parseParams(task.params, { 'no-such-parameter': 1 }).faults).toContainEqual(
    expect.objectContaining({ key: 'no-such-parameter' }),
  )
})
