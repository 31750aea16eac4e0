import { expect, test } from 'vitest'
import { parametersOf } from '../../src/cli/parameters.ts'
import { questionFor } from '../../src/facts/question.ts'
import { hostPlays } from '../../src/playbook/host-plays.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import { parseParams } from '../../src/playbook/params.ts'
import type { HostStep } from '../../src/playbook/playbook.ts'
import { tasks } from '../../src/tasks/registry.ts'
import type { Task } from '../../src/tasks/task.ts'
import { aHost, runningHost, stuckHost } from './deployed.ts'
import { planOn, predicted, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'

const all = [...tasks.values()].map((task): [string, Task] => [task.name, task])

/** The steps of a task's example that ask for this task, made ready by the loader that a user's playbook goes through. */
const stepsOf = (task: Task): HostStep[] => {
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
    secrets: { env: {}, readFile },
  })
  return (play?.steps ?? []).filter((step) => step.task === task.name)
}

/** Hosts a task may meet: nothing there at all, nothing but unit files, an agent that runs, one that is stuck. */
const hosts = (task: Task, params: unknown): HostLiteral[] => {
  const names = task.facts(params, aHost()).flatMap((fact) => (fact.kind === 'unit' ? [fact.name] : []))
  const loaded = Object.fromEntries(names.map((name) => [name, { UnitFileState: 'disabled' }]))
  return [{}, { units: loaded }, runningHost(), stuckHost()]
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

test.each(all)('%s finds nothing left to do where its plan was carried out', (_, task) => {
  for (const { params } of stepsOf(task)) {
    for (const literal of hosts(task, params)) {
      const state = stateFor(task, params, literal)
      const first = planOn(task, params, state)
      if (first.status !== 'planned') continue
      const second = planOn(task, params, predicted(state, first))
      // What a change leaves unknown is for the next look at the host, and never a reason to do more now.
      if (second.status !== 'unknown') expect(second).toMatchObject({ status: 'planned', changes: [] })
    }
  }
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
