import { expect } from 'vitest'
import type { Change, GuardScope } from '../../src/changes/change.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { runLane } from '../../src/runner/lane.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import type { Run } from '../../src/runner/run.ts'
import { type Planned, planned, type Task } from '../../src/tasks/task.ts'
import { base64, type RecordedHost } from '../facts/answers.ts'
import { createFakeConnection, type FakeConnection } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { aRun, aTask, host1, only } from './world.ts'

const scope: GuardScope = { lock: '/lock', root: '/opt' }
export const withinMs = 90_000
const arm: Change = { kind: 'arm', what: 'upgrade to v2', candidate: 'c', withinMs, scope }

/** The changes of a switch, by their place: what comes after 1 is undone by the host. */
export const at = { hold: 0, arm: 1, link: 2, restart: 3, wait: 4 } as const

/** A link leads to `new`, and a unit has been restarted on it. */
export const switched = (name: string, path = '/cur', what = 'upgrade to v2'): Task<unknown> =>
  aTask(
    name,
    [
      { kind: 'path', path },
      { kind: 'unit', name: 'a.service' },
    ],
    (view) => {
      const node = view.node(path)
      if (node.type === 'symlink' && node.target === 'new') return planned([])
      return planned([
        { kind: 'hold', lock: '/lock', forS: 300 },
        { ...arm, what },
        { kind: 'link', path, target: 'new' },
        { kind: 'systemctl', verb: 'restart', unit: 'a.service' },
        { kind: 'await', condition: { unit: 'a.service', is: 'active' }, withinMs: 5000, stableMs: 1000 },
      ])
    },
  )

/** A check: what was restarted has left this file. Whether it will, nobody can know before. */
export const healthy = (name: string, path = '/healthy'): Task<unknown> =>
  aTask(
    name,
    [
      { kind: 'path', path },
      { kind: 'unit', name: 'a.service' },
    ],
    (view) => {
      view.unit('a.service').get('MainPID')
      return view.node(path).type === 'absent' ? ill : planned([])
    },
    true,
  )

const ill: Planned = {
  status: 'failed',
  error: { code: 'preflight-failed', message: 'It is ill.', remedy: 'Heal it.', detail: 'cough' },
}

const unit = (pid: string): RecordedHost => ({
  units: { 'a.service': { LoadState: 'loaded', ActiveState: 'active', MainPID: pid } },
  exes: { [pid]: '/bin/a' },
})

/** The host before and after, with whatever else there is. */
export const old = (more: RecordedHost = {}): RecordedHost => ({
  ...unit('7'),
  ...more,
  paths: { '/cur': { link: 'old' }, '/other': { link: 'old' }, ...more.paths },
})
export const renewed = (more: RecordedHost = {}): RecordedHost => ({
  ...unit('8'),
  self: [armedBy('r1')],
  ...more,
  paths: { '/cur': { link: 'new' }, '/other': { link: 'old' }, ...more.paths },
})

export const armedBy = (run: string, phase: 'armed' | 'undoing' = 'armed', firesAtS = 200): string =>
  `rollback ${phase} ${base64(`${run} me@here 2026-11-30T10:00:00Z ${firesAtS} c upgrade to v2\n`)}`
export const lineOf = (run: string, how = 'rolled-back'): string =>
  `${run} me@here 2026-11-30T10:00:00Z ${how} 2026-11-30T10:01:00Z upgrade to v2`
export const undoneBy = (run: string, how?: string): string => `rollback rolled-back ${base64(`${lineOf(run, how)}\n`)}`

type Scripts = Parameters<typeof createFakeConnection>[0]
type Connect = Scripts | Error

export interface Lane {
  readonly outcome: string
  readonly events: RunEvent[]
  readonly end: Extract<RunEvent, { type: 'host-ended' }>
  /** What was run on each connection, in order. */
  readonly verbs: string[][]
  readonly fakes: FakeConnection[]
}

/** A lane over one connection after the other; each is closed in the end. */
export const lane = async (
  tasks: Tasks,
  of: HostPlay,
  connects: readonly Connect[],
  more: Partial<Run> = {},
): Promise<Lane> => {
  const reached = connects.map((one) => (one instanceof Error ? one : createFakeConnection(one, of.host)))
  const fakes = reached.flatMap((one) => (one instanceof Error ? [] : [one]))
  const run = aRun(tasks, createFakeTransport({ [host1.name]: reached }), more)
  const outcome = await runLane(run, of)
  expect(fakes.map(({ isClosed }) => isClosed)).toEqual(fakes.map(({ calls }) => calls.length > 0))
  const ended = only(run.events, 'host-ended')
  expect([ended.length, run.events.at(-1)]).toEqual([1, ended[0]])
  for (const { name } of of.steps)
    expect(only(run.events, 'step-ended').filter(({ step }) => step === name).length).toBe(1)
  return {
    outcome,
    events: run.events,
    end: ended[0] as Lane['end'],
    verbs: fakes.map(({ calls }) => calls.map(({ verb }) => verb)),
    fakes,
  }
}
