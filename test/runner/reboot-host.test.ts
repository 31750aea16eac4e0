import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DroverError, type ErrorCode } from '../../src/errors.ts'
import { questionFor } from '../../src/facts/question.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { runLane } from '../../src/runner/lane.ts'
import type { Run } from '../../src/runner/run.ts'
import { planned } from '../../src/tasks/task.ts'
import { answerOf, type RecordedHost } from '../facts/answers.ts'
import type { DecodedCommand } from '../transport/decode-command.ts'
import { type Answer, answer, createFakeConnection, ends, fails, hold, lost } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { applies, aRun, aTask, facts, fileTask, host1, only, play, results, tasksOf } from './world.ts'

const machine = 'a'.repeat(32)
const boot = (pid1: string, id = machine): RecordedHost => ({
  os: { boot: '0f3a1f6e-1111-4222-8333-444455556666', pid1, id },
})
const withFile = (host: RecordedHost, path: string): RecordedHost => ({ ...host, paths: { [path]: { file: 'x' } } })

const bootTask = (withinMs = 2000) =>
  aTask('boot', [], (view) => planned(view.rebooted ? [] : [{ kind: 'reboot', withinMs }]))

type Doing = 'tell' | 'down' | 'look' | 'started'
const doing = ({ args, text }: DecodedCommand): Doing => {
  if (args[0] === 'os') return 'look'
  if (text.includes('is-system-running')) return 'started'
  return text.includes('systemd-run') ? 'tell' : 'down'
}

/** What the host says, one answer after the other for each of the four; the last for all further ones. */
const script = (all: Partial<Record<Doing, readonly Answer[]>>, tick: () => void = () => undefined) => {
  const done: Doing[] = []
  const answers: Record<Doing, readonly Answer[]> = {
    tell: [answer('')],
    down: [lost()],
    look: [answer(answerOf(questionFor([]), boot('8')))],
    started: [answer('')],
    ...all,
  }
  return {
    done,
    reboot: (call: DecodedCommand): Answer => {
      const what = doing(call)
      const nth = done.filter((other) => other === what).length
      done.push(what)
      tick()
      return (answers[what][nth] ?? answers[what].at(-1)) as Answer
    },
  }
}

const look = (host: RecordedHost): Answer => answer(answerOf(questionFor([]), host))
const error = (code: ErrorCode, message = `it said ${code}`): DroverError =>
  new DroverError({ code, message, remedy: 'Wait.' })

interface Ended {
  readonly events: RunEvent[]
  readonly outcome: string
  readonly done: readonly Doing[]
  readonly error: Extract<RunEvent, { type: 'host-ended' }>['error']
  readonly verbs: readonly string[]
}

/** A clock that each command moves by that much, and nothing else: how fast this machine is does not matter. */
const clockOf = (commandMs: number): (() => void) => {
  let now = performance.now()
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => spy.mockRestore())
  return () => {
    now += commandMs
  }
}

const rebooting = async (
  all: Partial<Record<Doing, readonly Answer[]>>,
  {
    after = boot('8'),
    connects = [],
    withinMs,
    commandMs = 0,
    more = {},
  }: {
    after?: RecordedHost | null
    connects?: readonly Error[]
    withinMs?: number
    commandMs?: number
    more?: Partial<Run>
  } = {},
): Promise<Ended> => {
  const tasks = tasksOf(bootTask(withinMs))
  const of = play(host1, 'boot')
  const { done, reboot } = script(all, clockOf(commandMs))
  const fake = createFakeConnection({
    inspect: facts(tasks, of, boot('7')),
    reboot,
    ...(after !== null && { verify: facts(tasks, of, after, '') }),
    // Whether the host has been told or not, the lease that it was told with is given up.
    ...(after === null && { release: () => answer('') }),
  })
  const run = aRun(tasks, createFakeTransport({ [host1.name]: [fake, ...connects, fake] }), more)
  const outcome = await runLane(run, of)
  const [end] = only(run.events, 'host-ended')
  return { events: run.events, outcome, done, error: end?.error, verbs: fake.calls.map(({ verb }) => verb) }
}

test('down, up, another boot, started: and then the look that proves it', async () => {
  const { outcome, done, events } = await rebooting({})
  expect([outcome, done]).toEqual(['changed', ['tell', 'down', 'look', 'started']])
  expect(results(events)).toEqual({ boot: 'changed' })
  expect(only(events, 'change-started')).toMatchObject([{ summary: 'reboot', waitMs: 2000 }])
  expect(only(events, 'host-recognised').map(({ pid1Start }) => pid1Start)).toEqual(['7', '8'])
})

test('what is planned before it is applied before it, what is planned after it comes after a look at the new boot', async () => {
  const tasks = tasksOf(fileTask('one', '/x'), bootTask(), fileTask('two', '/y'))
  const of = play(host1, 'one', 'boot', 'two')
  const { reboot } = script({})
  const x = { file: 'x' }
  const fake = createFakeConnection({
    inspect: facts(tasks, of, boot('7')),
    apply: applies,
    reboot,
    verify: [
      facts(tasks, of, withFile(boot('8'), '/x'), ''),
      facts(tasks, of, { ...boot('8'), paths: { '/x': x, '/y': x } }, ''),
    ],
  })
  const run = aRun(tasks, createFakeTransport({ [host1.name]: fake }))
  expect(await runLane(run, of)).toBe('changed')
  expect(fake.calls.map(({ verb }) => verb)).toEqual([
    'inspect',
    'apply',
    'reboot',
    'reboot',
    'reboot',
    'reboot',
    'verify',
    'apply',
    'verify',
  ])
  expect(results(run.events)).toEqual({ one: 'changed', boot: 'changed', two: 'changed' })
  // The lease is kept for what is still to come, and given up with the last look.
  const leases = fake.calls.filter(({ verb }) => verb === 'verify').map(({ args }) => args[args.indexOf('lease') + 2])
  expect(leases).toEqual(['take', 'free'])
})

describe('on its way', () => {
  test('the host may refuse, drop and time out: only who it is, is final', async () => {
    const codes = ['connect-failed', 'auth-failed', 'connection-lost', 'handshake-failed', 'connect-timeout'] as const
    const { outcome } = await rebooting({}, { connects: codes.map((code) => error(code)) })
    expect(outcome).toBe('changed')
  })
  test('a host that still answers on the old boot is waited for again', async () => {
    const { outcome, done } = await rebooting({ look: [look(boot('7')), look(boot('8'))] })
    expect([outcome, done]).toEqual(['changed', ['tell', 'down', 'look', 'down', 'look', 'started']])
  })
  test.each([
    ['is lost', lost()],
    ['makes no sense', answer('\x1eS os\nboot')],
    ['is refused', ends(1, 'sudo: no tty\n')],
  ])('a look that %s is made again', async (_, bad) => {
    const { outcome, done } = await rebooting({ look: [bad, look(boot('8'))] })
    expect([outcome, done.filter((what) => what === 'look').length]).toEqual(['changed', 2])
  })
  test('a line that breaks before the host has said that it will is no failure', async () => {
    expect((await rebooting({ tell: [lost()] })).outcome).toBe('changed')
  })
  test('a line that breaks while it is starting is made anew', async () => {
    const { outcome, done } = await rebooting({ started: [lost(), answer('')] })
    expect([outcome, done.slice(-2)]).toEqual(['changed', ['started', 'started']])
  })
  test('one that never finishes starting is told of, with what it still works on, and looked at', async () => {
    const { outcome, events } = await rebooting({
      started: [answer('12 a.service  start running\n13 b.target start waiting\n', { code: 1 })],
    })
    expect(outcome).toBe('changed')
    expect(only(events, 'notice').map(({ message }) => message)).toEqual([
      'the host is up again and has not finished starting in time; it still works on: 12 a.service start running, 13 b.target start waiting',
    ])
  })
})

describe('comes to nothing', () => {
  // Told, down, and the third command is beyond its time.
  const failing = { after: null, withinMs: 10_000, commandMs: 4000 } as const
  test('never down', async () => {
    const { outcome, error: why } = await rebooting({ down: [answer('')], look: [look(boot('7'))] }, failing)
    expect([outcome, why?.code, why?.message]).toEqual([
      'failed',
      'reboot-timeout',
      expect.stringContaining('never went down'),
    ])
  })
  test('never up', async () => {
    const { outcome, error: why } = await rebooting(
      {},
      { ...failing, commandMs: 4900, connects: Array(9).fill(error('connect-failed')) },
    )
    expect([outcome, why?.code, why?.message]).toEqual([
      'failed',
      'reboot-timeout',
      expect.stringContaining('not reached again within 10 s: it said connect-failed'),
    ])
  })
  test('away, and back on the same boot', async () => {
    const { error: why } = await rebooting(
      { look: [look(boot('7'))] },
      { ...failing, connects: [error('connect-failed')] },
    )
    expect([why?.code, why?.message]).toEqual(['reboot-timeout', expect.stringContaining('on the same boot as before')])
  })
  test('within the time of its step or of the run, where that is shorter', async () => {
    const { error: why } = await rebooting(
      { down: [answer('')], look: [look(boot('7'))] },
      { ...failing, withinMs: 3_600_000, more: { stepTimeoutS: 10 } },
    )
    expect([why?.code, why?.message]).toEqual(['reboot-timeout', expect.stringContaining('within 10 s')])
  })
  test.each(['host-key-changed', 'host-key-unknown', 'host-key-revoked'] as const)('%s is final', async (code) => {
    const { outcome, error: why, done } = await rebooting({}, { after: null, connects: [error(code)] })
    expect([outcome, why?.code, done]).toEqual(['failed', code, ['tell', 'down']])
  })
  test('another machine at the address', async () => {
    const { outcome, error: why } = await rebooting({ look: [look(boot('8', 'b'.repeat(32)))] }, { after: null })
    expect([outcome, why?.code]).toEqual(['failed', 'wrong-machine'])
  })
  test('another machine at the last look', async () => {
    const { outcome, error: why } = await rebooting({}, { after: boot('8', 'b'.repeat(32)) })
    expect([outcome, why?.code]).toEqual(['failed', 'wrong-machine'])
  })
  test('the sign of a reboot that is still there has not converged, and is no reason for another', async () => {
    const { outcome, error: why, done } = await rebooting({}, { after: boot('7') })
    expect([outcome, why?.code, done.filter((what) => what === 'tell').length]).toEqual(['failed', 'not-converged', 1])
  })
})

describe('is not told to', () => {
  test.each([
    [75, 'drover run x by you', 'locked', 'blocked'],
    [94, 'Failed to connect to bus', 'apply-refused', 'failed'],
  ])('where the host refuses with %i', async (code, stderr, known, wanted) => {
    const { outcome, error: why, done } = await rebooting({ tell: [answer('', { code, stderr })] }, { after: null })
    expect([outcome, why?.code, done]).toEqual([wanted, known, ['tell']])
    expect(`${why?.message} ${why?.detail ?? ''}`).toContain(stderr)
  })
  test('where nobody could tell one boot from another', async () => {
    const tasks = tasksOf(bootTask())
    const of = play(host1, 'boot')
    const fake = createFakeConnection({
      inspect: facts(tasks, of, { os: { boot: 'none', pid1: '7' } }),
      release: () => answer(''),
    })
    const run = aRun(tasks, createFakeTransport({ [host1.name]: fake }))
    expect(await runLane(run, of)).toBe('failed')
    expect(only(run.events, 'host-ended')[0]?.error?.code).toBe('precondition-unmet')
  })
})

test('a second Ctrl-C leaves it, and says that the host goes on', async () => {
  const hard = new AbortController()
  const held = hold(answer(''))
  const running = rebooting({ down: [held] }, { after: null, more: { hardStop: hard.signal } })
  await held.reached
  hard.abort()
  const { outcome, error: why } = await running
  expect([outcome, why?.code, why?.message]).toEqual([
    'cancelled',
    'cancelled',
    expect.stringContaining('goes on without it'),
  ])
})

test('an answer that is refused as a whole is not taken for a boot', async () => {
  const { outcome } = await rebooting({ look: [fails(error('channel-failed')), look(boot('8'))] })
  expect(outcome).toBe('changed')
})
