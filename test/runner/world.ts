import type { Change } from '../../src/changes/change.ts'
import type { Fact } from '../../src/facts/fact.ts'
import type { HostView } from '../../src/facts/view.ts'
import type { Host } from '../../src/inventory/host.ts'
import type { HostPlay, HostStep, When } from '../../src/playbook/playbook.ts'
import { questionOf } from '../../src/runner/converge.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { createMachines } from '../../src/runner/machines.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import type { Run } from '../../src/runner/run.ts'
import { type Planned, planned, type Task } from '../../src/tasks/task.ts'
import type { Transport } from '../../src/transport/connection.ts'
import { answerOf, base64, type RecordedHost } from '../facts/answers.ts'
import type { DecodedCommand as Call } from '../transport/decode-command.ts'
import { type Answer, answer, pieces } from '../transport/fake-answers.ts'
import { fakeHost } from '../transport/fake-host.ts'

/** A task of a test: what it asks and how it plans. */
export const aTask = (
  name: string,
  facts: readonly Fact[],
  plan: (view: HostView) => Planned,
  isCheck = false,
): Task<unknown> =>
  ({
    name,
    summary: '',
    params: {},
    example: '',
    facts: () => facts,
    plan,
    ...(isCheck && { isCheck: true }),
  }) as unknown as Task<unknown>

/** A file is there with this content. */
export const fileTask = (name: string, path: string, content = 'x'): Task<unknown> =>
  aTask(name, [{ kind: 'path', path, content: 100, sha256: true }], (view) =>
    planned(view.text(path) === content ? [] : [{ kind: 'write', path, content, mode: 0o644, owner: 'root:root' }]),
  )

export const unitTask = (name: string, unit: string, ...changes: Change[]): Task<unknown> =>
  aTask(name, [{ kind: 'unit', name: unit }], (view) => planned(view.unit(unit).isActive ? [] : changes))

export const tasksOf = (...tasks: readonly Task<unknown>[]): Tasks => new Map(tasks.map((task) => [task.name, task]))

export const step = (task: string, when: When | null = null, name = task): HostStep => ({
  name,
  task,
  params: {},
  when,
})
export const play = (host: Host, ...names: (string | HostStep)[]): HostPlay => ({
  host,
  steps: names.map((name) => (typeof name === 'string' ? step(name) : name)),
})

const never = new AbortController().signal

export const deadlines = { inspectMs: 1000, applyGraceMs: 1000, reconnectMs: 1000, backoffMs: 1, stallMs: 60_000 }

export interface TestRun extends Run {
  readonly events: RunEvent[]
}

export const aRun = (tasks: Tasks, transport: Transport, more: Partial<Run> = {}): TestRun => {
  const events: RunEvent[] = []
  return {
    id: 'r1',
    operator: 'me@here',
    reason: null,
    mode: 'apply',
    forks: 2,
    tasks,
    transport,
    becomeOf: () => null,
    deadlines,
    machines: createMachines(),
    sink: (event) => events.push(event),
    softStop: never,
    hardStop: never,
    ...more,
    events,
  }
}

/** What inspect and verify answer: the facts of this play on such a host. */
export const facts = (tasks: Tasks, of: HostPlay, host: RecordedHost = {}, leaseAnswer?: string): Answer =>
  answer(
    answerOf(questionOf(of, tasks), host).replace(
      '\x1eS end\n',
      leaseAnswer === undefined ? '\x1eS end\n' : `\x1eS lease\n${base64(leaseAnswer)}\n\x1eS end\n`,
    ),
  )

/** The token that an apply is told to mark its reports with. */
const tokenOf = (call: Call): string => call.args[3] ?? ''

/** What the apply's script would do on the host, as far as its calls are concerned. */
const changesIn = (call: Call): string[] => {
  const script = (call.payload ?? Buffer.alloc(0)).subarray(0, Number(call.args[7])).toString()
  return [...script.matchAll(/^begin '(\d+)' /gm)].map(([, number]) => number ?? '')
}

/** An apply that says this. `~` stands for the mark of a report. */
export const says =
  (text: string, options: { code?: number; stderr?: string } = {}, from = 0) =>
  (call: Call): Answer =>
    pieces([text.replaceAll('~', `\x1e${tokenOf(call)} `).slice(from)], options)

/** An apply that makes all of its changes. */
export const applies = (call: Call): Answer =>
  says(
    `${changesIn(call)
      .map((number) => `~B ${number}\n~D ${number}\n`)
      .join('')}~T\n~R success exited 0\n`,
  )(call)

/** An apply that makes the changes before `failing` and fails in that one. */
export const failsAt = (failing: number, words = 'no space left\n') =>
  says(
    `${Array.from({ length: failing }, (_, number) => `~B ${number}\n~D ${number}\n`).join('')}~B ${failing}\n${words}~F ${failing} 28\n~R exit-code exited 1\n`,
  )

export const host1 = fakeHost({ name: 'host-1' })
export const results = (events: readonly RunEvent[]): Record<string, string> =>
  Object.fromEntries(events.flatMap((event) => (event.type === 'step-ended' ? [[event.step, event.result]] : [])))
export const only = <T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): Extract<RunEvent, { type: T }>[] =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
