import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { DroverError } from '../../src/errors.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import { questionOf } from '../../src/runner/converge.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { runLane } from '../../src/runner/lane.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import type { Run } from '../../src/runner/run.ts'
import { blocked, planned } from '../../src/tasks/task.ts'
import type { RecordedHost } from '../facts/answers.ts'
import type { DecodedCommand } from '../transport/decode-command.ts'
import {
  type Answer,
  answer,
  createFakeConnection,
  ends,
  type FakeConnection,
  fails,
  hold,
  lost,
  lostError,
  pieces,
} from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import {
  applies,
  aRun,
  aTask,
  deadlines,
  facts,
  failsAt,
  fileTask,
  host1,
  only,
  play,
  results,
  says,
  step,
  tasksOf,
  unitTask,
} from './world.ts'

type Scripts = Parameters<typeof createFakeConnection>[0]

interface Lane {
  readonly outcome: string
  readonly events: RunEvent[]
  readonly fake: FakeConnection
  readonly verbs: string[]
  readonly end: Extract<RunEvent, { type: 'host-ended' }>
}

const lane = async (tasks: Tasks, of: HostPlay, scripts: Scripts, more: Partial<Run> = {}): Promise<Lane> => {
  const fake = createFakeConnection(scripts, of.host)
  const run = aRun(tasks, createFakeTransport({ [of.host.name]: fake }), more)
  const outcome = await runLane(run, of)
  expect(fake.isClosed).toBe(true)
  const ended = only(run.events, 'host-ended')
  expect(ended.length).toBe(1)
  // Exactly one result for each step, reached or not.
  expect(
    only(run.events, 'step-ended')
      .map(({ step: name }) => name)
      .sort(),
  ).toEqual(
    [
      ...new Set([
        ...of.steps.map(({ name }) => name),
        ...only(run.events, 'step-ended').map(({ step: name }) => name),
      ]),
    ].sort(),
  )
  for (const { name } of of.steps)
    expect(only(run.events, 'step-ended').filter(({ step: other }) => other === name).length).toBe(1)
  expect(run.events.at(-1)).toBe(ended[0])
  return { outcome, events: run.events, fake, verbs: fake.calls.map(({ verb }) => verb), end: ended[0] as Lane['end'] }
}

const has = (...paths: string[]): RecordedHost => ({
  paths: Object.fromEntries(paths.map((path) => [path, { file: 'x' }])),
})
const two = tasksOf(fileTask('one', '/x'), fileTask('two', '/y'))
const both = play(host1, 'one', 'two')
const restart: Change = { kind: 'systemctl', verb: 'restart', unit: 'a.service' }

/** One restarts a unit; two needs to know its new process, so there are two segments. */
const segments = tasksOf(
  unitTask('one', 'a.service', restart),
  aTask(
    'two',
    [
      { kind: 'unit', name: 'a.service' },
      { kind: 'path', path: '/pid', content: 9 },
    ],
    (view) => {
      const pid = view.unit('a.service').get('MainPID')
      return planned(
        view.text('/pid') === pid
          ? []
          : [{ kind: 'write', path: '/pid', content: pid, mode: 0o644, owner: 'root:root' }],
      )
    },
  ),
)
const down = { units: { 'a.service': { LoadState: 'loaded', ActiveState: 'inactive', MainPID: '0' } } }
const up = { units: { 'a.service': { LoadState: 'loaded', ActiveState: 'active', MainPID: '7' } }, exes: { 7: '/a' } }
const done = { ...up, paths: { '/pid': { file: '7' } } }
const seen = (host: RecordedHost) => facts(segments, both, host)

test('a host that is as wanted costs exactly one exec', async () => {
  const { outcome, verbs, events } = await lane(two, both, { inspect: facts(two, both, has('/x', '/y')) })
  expect([outcome, verbs]).toEqual(['unchanged', ['inspect']])
  expect(results(events)).toEqual({ one: 'ok', two: 'ok' })
})

test('a host that is changed costs three, and the last look lets it go', async () => {
  const { outcome, verbs, events, fake, end } = await lane(two, both, {
    inspect: facts(two, both, has('/y')),
    apply: applies,
    verify: facts(two, both, has('/x', '/y')),
  })
  expect([outcome, verbs, end.changes]).toEqual(['changed', ['inspect', 'apply', 'verify'], 1])
  expect(results(events)).toEqual({ one: 'changed', two: 'ok' })
  expect(fake.calls[2]?.args.slice(-6)).toEqual(['lease', '4', 'free', 'r1', 'me@here', '60'])
  expect(fake.calls[0]?.args.slice(-6)).toEqual(['lease', '4', 'sweep', 'r1', 'me@here', '60'])
  expect(only(events, 'change-done')).toMatchObject([
    { step: 'one', summary: 'write /x (0644 root:root, 1 bytes)', diff: expect.stringContaining('+x') },
  ])
  expect(only(events, 'exec').map(({ verb, code }) => [verb, code])).toEqual([
    ['inspect', 0],
    ['apply', 0],
    ['verify', 0],
  ])
})

test('a check changes nothing, holds nothing, and says what would be done', async () => {
  const { outcome, verbs, events, end } = await lane(
    two,
    both,
    { inspect: facts(two, both, has('/y')) },
    { mode: 'check' },
  )
  expect([outcome, verbs, end.changes]).toEqual(['would-change', ['inspect'], 1])
  expect(results(events)).toEqual({ one: 'would-change', two: 'ok' })
})

test('a check says of what cannot be known yet that it is not', async () => {
  const { outcome, events } = await lane(segments, both, { inspect: seen(down) }, { mode: 'check' })
  expect(outcome).toBe('would-change')
  expect(results(events)).toEqual({ one: 'would-change', two: 'unknown' })
  expect(only(events, 'host-planned')[0]?.steps[1]).toMatchObject({
    knownAfter: expect.stringContaining('restart of a.service'),
  })
})

describe('two segments', () => {
  test('the second is planned on what the first made known; the lease is kept in between and given up after', async () => {
    const { outcome, verbs, events, fake, end } = await lane(segments, both, {
      inspect: seen(down),
      apply: applies,
      verify: [seen(up), seen(done)],
    })
    expect([outcome, verbs, end.changes]).toEqual(['changed', ['inspect', 'apply', 'verify', 'apply', 'verify'], 2])
    expect(results(events)).toEqual({ one: 'changed', two: 'changed' })
    expect(fake.calls.filter(({ verb }) => verb === 'verify').map(({ args }) => args.at(-4))).toEqual(['take', 'free'])
    expect(only(events, 'host-planned').map(({ segment }) => segment)).toEqual([0, 1, 2])
  })
  test.each<[string, Scripts, string, Record<string, string>]>([
    [
      'the second apply fails',
      {
        apply: (call) => (call.args.length > 0 && call.payload?.includes('/pid') ? failsAt(0)(call) : applies(call)),
        verify: seen(up),
        release: answer(''),
      },
      'failed',
      { one: 'changed', two: 'failed' },
    ],
    [
      'the connection is lost in the second look',
      { apply: applies, verify: [seen(up), lost(), lost(), lost(), lost()], release: answer('') },
      'failed',
      { one: 'changed', two: 'failed' },
    ],
    [
      'the first step is undone meanwhile',
      { apply: applies, verify: seen(down), release: answer('') },
      'failed',
      { one: 'failed', two: 'skipped' },
    ],
  ])('%s: the host is let go', async (_, scripts, outcome, steps) => {
    const ended = await lane(segments, both, { inspect: seen(down), ...scripts })
    expect([ended.outcome, results(ended.events)]).toEqual([outcome, steps])
    expect(ended.verbs.at(-1)).toBe('release')
  })
  test('the first Ctrl-C in between: no second one is begun, the host is let go', async () => {
    const soft = new AbortController()
    const first = seen(up)
    const { outcome, verbs, events, end } = await lane(
      segments,
      both,
      {
        inspect: seen(down),
        apply: applies,
        verify: {
          give: (call, request) => {
            soft.abort()
            return first.give(call, request)
          },
        },
        release: answer(''),
      },
      { softStop: soft.signal },
    )
    expect([outcome, verbs.at(-1), end.changes]).toEqual(['cancelled', 'release', 1])
    expect(results(events)).toMatchObject({ one: 'changed' })
  })
  test('a check that waits for the changes keeps nothing held; a step behind it does', async () => {
    const reads = aTask(
      'check',
      [{ kind: 'unit', name: 'a.service' }],
      (view) => {
        view.unit('a.service').get('MainPID')
        return planned([])
      },
      true,
    )
    const withCheck = tasksOf(unitTask('one', 'a.service', restart), reads, fileTask('last', '/x'))
    for (const [names, action] of [
      [['one', 'check'], 'free'],
      [['one', 'check', 'last'], 'take'],
    ] as const) {
      const of = play(host1, ...names)
      const { fake, outcome } = await lane(withCheck, of, {
        inspect: facts(withCheck, of, { ...down }),
        apply: applies,
        verify:
          action === 'free'
            ? facts(withCheck, of, up)
            : [facts(withCheck, of, up), facts(withCheck, of, { ...up, ...has('/x') })],
      })
      expect([outcome, fake.calls.find(({ verb }) => verb === 'verify')?.args.at(-4)]).toEqual(['changed', action])
    }
  })
})

test('a change that does not take is an error, not a success', async () => {
  const { outcome, events, end } = await lane(two, both, {
    inspect: facts(two, both),
    apply: applies,
    verify: facts(two, both, has('/x')),
  })
  expect([outcome, end.error?.code, end.error?.step, end.changes]).toEqual(['failed', 'not-converged', 'two', 2])
  expect(results(events)).toEqual({ one: 'changed', two: 'failed' })
})

describe('an apply that does not make all', () => {
  const inspect = () => facts(two, both)
  test.each<[string, Scripts['apply'], string, string, Record<string, string>, number, Scripts?]>([
    [
      'the second change fails',
      failsAt(1),
      'failed',
      'change-failed',
      { one: 'changed', two: 'failed' },
      1,
      { release: answer('') },
    ],
    [
      'the first has drifted',
      says('~B 0\n~X 0 YQ==\n~R exit-code exited 1\n'),
      'blocked',
      'drifted',
      { one: 'blocked', two: 'skipped' },
      0,
      { release: answer('') },
    ],
    [
      'somebody else is at work',
      answer('', { code: 75, stderr: 'run r2 of you' }),
      'blocked',
      'locked',
      { one: 'blocked', two: 'skipped' },
      0,
    ],
    [
      'systemd refuses it',
      answer('', { code: 94, stderr: 'no' }),
      'failed',
      'apply-refused',
      { one: 'failed', two: 'skipped' },
      0,
    ],
    [
      'it ends without a result',
      answer('', { code: 96 }),
      'failed',
      'apply-incomplete',
      { one: 'failed', two: 'skipped' },
      0,
      { verify: facts(two, both) },
    ],
    [
      'it is killed in the second',
      says('~B 0\n~D 0\n~B 1\n~R success killed TERM\n'),
      'failed',
      'apply-incomplete',
      { one: 'changed', two: 'failed' },
      1,
      { release: lost(), verify: facts(two, both) },
    ],
    [
      'the host says all is done and its script did not',
      says('~B 0\n\x1eD 0\n\x1eD 1\n\x1eT\n~R success exited 0\n'),
      'failed',
      'apply-incomplete',
      { one: 'failed', two: 'skipped' },
      0,
      { release: answer(''), verify: facts(two, both) },
    ],
    [
      'its step takes too long',
      says('~B 0\n~D 0\n~B 1\n~O 1\n~R signal killed KILL\n'),
      'failed',
      'step-timeout',
      { one: 'changed', two: 'failed' },
      1,
      { release: answer('process 7: sleep') },
    ],
    [
      'sudo has changed its mind',
      ends(1, 'sudo: no\n'),
      'unreachable',
      'channel-failed',
      { one: 'failed', two: 'skipped' },
      0,
    ],
  ])('%s', async (_, apply, outcome, code, steps, changes, after = {}) => {
    const ended = await lane(two, both, { inspect: inspect(), apply: apply as NonNullable<typeof apply>, ...after })
    expect([ended.outcome, ended.end.error?.code, ended.end.changes]).toEqual([outcome, code, changes])
    expect(results(ended.events)).toEqual(steps)
    expect(ended.verbs).toEqual(['inspect', 'apply', ...Object.keys(after)])
    expect(only(ended.events, 'change-failed').length).toBe(1)
    expect(ended.end.error).toMatchObject({ remedy: expect.stringMatching(/./), step: expect.stringMatching(/./) })
  })
})

/** An apply that says this, from the byte that it is asked for, and then loses the connection. */
const loses =
  (text: string, count = Number.POSITIVE_INFINITY) =>
  (call: DecodedCommand): Answer => ({
    give: async (decoded, request) => {
      const whole = text.replaceAll('~', `\x1e${call.args[3]} `)
      const rest = whole.slice(Number(call.args[4]), Number(call.args[4]) + count)
      await pieces([rest]).give(decoded, {
        ...request,
        onStdout: (chunk) => {
          if (!Buffer.from(chunk).includes(`\x1eE ${decoded.token}`)) request.onStdout?.(chunk)
        },
      })
      throw lostError()
    },
  })

describe('the connection is lost', () => {
  const inspect = () => facts(two, both)
  const made = () => facts(two, both, has('/x', '/y'))
  const whole = '~B 0\n~D 0\n~B 1\n~D 1\n~T\n'

  test('in the looks: each is made again', async () => {
    const { outcome, verbs, events } = await lane(two, both, {
      inspect: [lost(), lost(), inspect()],
      apply: applies,
      verify: [lost(), made()],
    })
    expect([outcome, verbs]).toEqual(['changed', ['inspect', 'inspect', 'inspect', 'apply', 'verify', 'verify']])
    expect(only(events, 'host-reconnected').length).toBe(3)
    expect(only(events, 'exec').map(({ code }) => code)).toEqual([-1, -1, 0, 0, -1, 0])
  })

  test('in an apply, byte after byte: it is followed from the byte that has been seen, and told of once', async () => {
    const offsets: number[] = []
    let asked = 0
    const { outcome, events, end } = await lane(two, both, {
      inspect: inspect(),
      apply: (call) => {
        offsets.push(Number(call.args[4]))
        asked += 1
        if (asked < 4) return loses(whole, 31)(call)
        return says(`${whole}~R success exited 0\n`, {}, Number(call.args[4]))(call)
      },
      verify: made(),
    })
    expect([outcome, end.changes]).toEqual(['changed', 2])
    expect(offsets[0]).toBe(0)
    expect(offsets.toSorted((a, b) => a - b)).toEqual(offsets)
    expect(only(events, 'change-started').map(({ step }) => step)).toEqual(['one', 'two'])
    expect(only(events, 'change-done').map(({ step }) => step)).toEqual(['one', 'two'])
  })

  test.each<[string, Scripts, Record<string, number>, number, Record<string, string>]>([
    [
      'again and again while it is read',
      { inspect: () => lost() },
      { inspect: 4 },
      0,
      { one: 'skipped', two: 'skipped' },
    ],
    [
      'again and again while it is changed, after the first change',
      { inspect: inspect(), apply: loses('~B 0\n~D 0\n') },
      { inspect: 1, apply: 11 },
      1,
      { one: 'failed', two: 'skipped' },
    ],
    [
      'again and again before anything is heard of the change',
      { inspect: inspect(), apply: () => lost() },
      { inspect: 1, apply: 11 },
      0,
      { one: 'failed', two: 'skipped' },
    ],
    [
      'again and again while it is looked at afterwards',
      { inspect: inspect(), apply: applies, verify: () => lost(), release: lost() },
      { inspect: 1, apply: 1, verify: 4, release: 1 },
      2,
      { one: 'changed', two: 'failed' },
    ],
  ])('%s', async (_, scripts, counts, changes, steps) => {
    const ended = await lane(two, both, scripts)
    expect([ended.outcome, ended.end.error?.code, ended.end.changes]).toEqual([
      'apply' in counts ? 'failed' : 'unreachable',
      'connection-lost',
      changes,
    ])
    expect(
      Object.fromEntries(Object.keys(counts).map((verb) => [verb, ended.verbs.filter((one) => one === verb).length])),
    ).toEqual(counts)
    expect(results(ended.events)).toEqual(steps)
  })

  test('for good: that the apply goes on by itself is said, and until when', async () => {
    const fake = createFakeConnection({ inspect: inspect(), apply: lost() })
    const away = new DroverError({ code: 'connect-failed', message: 'Refused.', remedy: 'r' })
    const run = aRun(two, createFakeTransport({ 'host-1': [fake, away] }), {
      deadlines: { ...deadlines, reconnectMs: 30 },
    })
    expect(await runLane(run, both)).toBe('failed')
    expect(only(run.events, 'host-ended')[0]?.error).toMatchObject({
      code: 'connection-lost',
      message: expect.stringMatching(
        /not reached again within .*: Refused\..*goes on by itself on the host .*for 50 s at the most/,
      ),
    })
    expect(only(run.events, 'host-reconnecting').length).toBeGreaterThan(1)
  })

  test('and the host then refuses the login: that is final, and no mere unreachable', async () => {
    const fake = createFakeConnection({ inspect: inspect(), apply: lost() })
    const refused = new DroverError({ code: 'auth-failed', message: 'No key fits.', remedy: 'r' })
    const run = aRun(two, createFakeTransport({ 'host-1': [fake, refused] }))
    expect(await runLane(run, both)).toBe('failed')
    expect(only(run.events, 'host-ended')[0]?.error?.code).toBe('auth-failed')
    expect(only(run.events, 'host-reconnecting').length).toBe(1)
  })

  test('while it goes down: it is looked at until it is on its next boot', async () => {
    const goesDown = { ...has('/x'), manager: 'Version=252.39-1\nVirtualization=docker\nSystemState=stopping\n' }
    const isSilent = { ...has('/x'), manager: 'Version=252.39-1\nVirtualization=docker\nSystemState=\n' }
    const { end, verbs } = await lane(two, both, {
      inspect: inspect(),
      apply: says('~B 0\n~D 0\n~B 1\n~R success killed TERM\n'),
      release: answer(''),
      verify: [
        facts(two, both, goesDown),
        facts(two, both, isSilent),
        facts(two, both, { ...has('/x'), os: { boot: 'other' } }),
      ],
    })
    expect(verbs.filter((verb) => verb === 'verify')).toHaveLength(3)
    expect(end.error?.message).toMatch(/^The host was rebooted in the middle.*finds 1 of its 2 changes made/)
  })

  test('with a reboot behind it: what the host shows of the changes is said', async () => {
    const { outcome, end, verbs } = await lane(two, both, {
      inspect: inspect(),
      apply: [lost(), answer('', { code: 97 })],
      verify: facts(two, both, has('/x')),
    })
    expect([outcome, verbs]).toEqual(['failed', ['inspect', 'apply', 'apply', 'verify']])
    expect(end.error).toMatchObject({
      code: 'apply-incomplete',
      message: expect.stringMatching(/rebooted in the middle.*finds 1 of its 2 changes made; still to do: write \/y/),
    })
  })
})

describe('what is refused while planning leaves the host alone', () => {
  const refusing = tasksOf(
    fileTask('one', '/x'),
    aTask('two', [], () => blocked({ code: 'path-in-the-way', message: 'm', remedy: 'r' })),
    fileTask('three', '/y'),
  )
  const of = play(host1, 'one', 'two', 'three')
  test.each(['apply', 'check'] as const)('%s', async (mode) => {
    const { outcome, verbs, events, end } = await lane(refusing, of, { inspect: facts(refusing, of) }, { mode })
    expect([outcome, verbs, end.error?.code, end.error?.step]).toEqual([
      'blocked',
      ['inspect'],
      'path-in-the-way',
      'two',
    ])
    // One wants a change and gets none, nor would it in a check: the host is left alone as a whole.
    expect(results(events)).toEqual({
      one: 'skipped',
      two: 'blocked',
      three: 'skipped',
    })
  })
  test('a check that came out bad is a failure, its findings are told', async () => {
    const finding = { check: 'c', target: 't', severity: 'error', message: 'm', ignored: false } as const
    const bad = tasksOf(
      aTask('one', [], () => ({
        status: 'failed',
        error: { code: 'preflight-failed', message: 'm', remedy: 'r' },
        findings: [finding],
      })),
    )
    const { outcome, events, end } = await lane(bad, play(host1, 'one'), { inspect: facts(bad, play(host1, 'one')) })
    expect([outcome, end.error?.code, results(events)]).toEqual(['failed', 'preflight-failed', { one: 'failed' }])
    expect(only(events, 'finding')).toMatchObject([{ step: 'one', finding }])
  })
})

test('a step that is skipped says why', async () => {
  const of = play(host1, step('one', { variant: 'container' }), 'two')
  const { outcome, events } = await lane(two, of, { inspect: facts(two, of, has('/y')) })
  expect(outcome).toBe('unchanged')
  expect(only(events, 'step-ended')[0]).toMatchObject({
    step: 'one',
    result: 'skipped',
    reason: 'the variant is host, not container',
  })
})

test('what a cut run owes is a step of its own, and paid once', async () => {
  const of = play(host1, 'one')
  const leftovers = { leftovers: ['/.drover.r0.0'], ...has('/x') }
  const { outcome, events } = await lane(two, of, {
    inspect: facts(two, of, leftovers),
    apply: applies,
    verify: facts(two, of, has('/x')),
  })
  expect([outcome, results(events)]).toEqual(['changed', { 'owed by a run that was cut': 'changed', one: 'ok' }])
})

describe('facts that cannot be read', () => {
  const of = play(host1, 'one')
  test.each<[string, Parameters<typeof answer>, string]>([
    ['half an answer', ['\x1eS os\n'], 'inspect-failed'],
    ['an exit code', ['\x1eS paths\n', { code: 3, stderr: 'sh: no' }], 'inspect-failed'],
    ['nonsense', ['hello'], 'inspect-failed'],
  ])('%s', async (_, given, code) => {
    const { outcome, end, events } = await lane(two, of, { inspect: answer(...given) })
    expect([outcome, end.error?.code, results(events)]).toEqual(['failed', code, { one: 'skipped' }])
  })
  test('the section that hangs is named', async () => {
    const timeout = new DroverError({ code: 'command-timeout', message: 'm', remedy: 'r' })
    const { end } = await lane(two, of, {
      inspect: {
        give: async (call, request) => {
          await pieces(['\x1eS os\n', '\x1eS paths\n']).give(call, {
            ...request,
            onStdout: (chunk) => request.onStdout?.(chunk),
          })
          throw timeout
        },
      },
    })
    expect(end.error).toMatchObject({ code: 'inspect-stalled', message: expect.stringContaining("'paths'") })
  })
})

describe('a lane never throws', () => {
  const of = play(host1, 'one', 'two')
  const throwing = (thrown: unknown) =>
    aTask('two', [], () => {
      throw thrown
    })
  test.each<[string, unknown]>([
    ['an error', new Error('bug')],
    ['a text', 'bug'],
    ['nothing', undefined],
  ])('a task that throws %s is a fault of drover, on this host alone', async (_, thrown) => {
    const tasks = tasksOf(fileTask('one', '/x'), throwing(thrown))
    const { outcome, verbs, end, events } = await lane(tasks, of, { inspect: facts(tasks, of) })
    expect([outcome, verbs, end.error?.code, results(events)]).toEqual([
      'failed',
      ['inspect'],
      'internal',
      { one: 'skipped', two: 'skipped' },
    ])
  })
  test('a task that throws in the second segment: what was done is told, the host is let go', async () => {
    const tasks = tasksOf(
      unitTask('one', 'a.service', restart),
      aTask('two', [{ kind: 'unit', name: 'a.service' }], (view) => {
        view.unit('a.service').get('MainPID')
        throw new Error('bug')
      }),
    )
    const { outcome, verbs, end, events } = await lane(tasks, both, {
      inspect: facts(tasks, both, down),
      apply: applies,
      verify: facts(tasks, both, up),
      release: answer(''),
    })
    expect([outcome, verbs.at(-1), end.changes, results(events)]).toEqual([
      'failed',
      'release',
      1,
      { one: 'changed', two: 'skipped' },
    ])
  })
  test('a task that asks for what cannot be asked', async () => {
    const tasks = tasksOf(aTask('one', [{ kind: 'unit', name: 'bad!.service' }], () => planned([])))
    const { outcome, end } = await lane(tasks, play(host1, 'one'), {})
    expect([outcome, end.error?.code]).toEqual(['failed', 'internal'])
  })
  test.each<[string, unknown, string]>([
    ['unreachable', new DroverError({ code: 'auth-failed', message: 'm', remedy: 'r' }), 'unreachable'],
    ['broken', new Error('bug'), 'failed'],
  ])('a transport that is %s', async (_, thrown, outcome) => {
    for (const connect of [
      () => Promise.reject(thrown),
      () => {
        throw thrown
      },
    ]) {
      const run = aRun(two, { connect, close: async () => undefined } as never)
      expect(await runLane(run, both)).toBe(outcome)
      expect(only(run.events, 'host-ended')).toMatchObject([{ outcome, changes: 0 }])
      expect(only(run.events, 'step-ended')).toEqual([])
    }
  })
  test('a connection that cannot even be closed', async () => {
    const fake = createFakeConnection({ inspect: facts(two, both, has('/x', '/y')) })
    for (const close of [
      () => Promise.reject(new Error('gone')),
      () => {
        throw new Error('gone')
      },
    ]) {
      const connection = { ...createFakeConnection({ inspect: facts(two, both, has('/x', '/y')) }).connection, close }
      expect(
        await runLane(aRun(two, { connect: async () => connection, close: async () => undefined } as never), both),
      ).toBe('unchanged')
    }
    await runLane(aRun(two, createFakeTransport({ 'host-1': fake })), both)
  })
  test('a sink that throws at every event', async () => {
    const fake = createFakeConnection({
      inspect: facts(two, both),
      apply: applies,
      verify: facts(two, both, has('/x', '/y')),
    })
    const sink = () => {
      throw new Error('disk full')
    }
    expect(await runLane(aRun(two, createFakeTransport({ 'host-1': fake }), { sink }), both)).toBe('changed')
  })
  test('an exec that fails with what is no error of ours', async () => {
    const { outcome, end } = await lane(two, both, { inspect: fails(new Error('bug')) })
    expect([outcome, end.error?.code]).toEqual(['failed', 'internal'])
  })
})

test('a plan that could never come to an end is a fault, and not an unchanged host', async () => {
  const stuck = tasksOf(
    aTask('one', [{ kind: 'path', path: '/l' }], () =>
      planned([
        { kind: 'link', path: '/l', target: '/far' },
        { kind: 'write', path: '/l/x', content: '', mode: 0o644, owner: 'root:root' },
      ]),
    ),
  )
  const of = play(host1, 'one')
  const { outcome, verbs, end } = await lane(stuck, of, { inspect: facts(stuck, of) })
  expect([outcome, verbs, end.error?.code]).toEqual(['failed', ['inspect'], 'internal'])
})

test.each<[string, number | undefined, number | undefined, string[]]>([
  ['no limit', undefined, undefined, []],
  ["the run's", 90, undefined, ['90', '90']],
  ["the step's own, where it is shorter", 90, 30, ['30', '90']],
  ["the run's, where that is shorter", 20, 30, ['20', '20']],
  ["the step's alone", undefined, 30, ['30', '0']],
])('what a step may take: %s', async (_, ofRun, ofStep, limits) => {
  const one = { ...step('one'), ...(ofStep !== undefined && { timeoutS: ofStep }) }
  const { fake } = await lane(
    two,
    play(host1, one, 'two'),
    { inspect: facts(two, both), apply: applies, verify: facts(two, both, has('/x', '/y')) },
    ofRun === undefined ? {} : { stepTimeoutS: ofRun },
  )
  const script = fake.calls[1]?.payload?.toString() ?? ''
  expect([...script.matchAll(/^within '(\d+)'$/gm)].map(([, seconds]) => seconds)).toEqual(limits)
})

describe('the second Ctrl-C', () => {
  test('while it is read: cancelled, and nothing is asked of the host any more', async () => {
    const hard = new AbortController()
    const held = hold(answer(''))
    const running = lane(two, both, { inspect: held }, { hardStop: hard.signal })
    await held.reached
    hard.abort()
    const { outcome, verbs } = await running
    expect([outcome, verbs]).toEqual(['cancelled', ['inspect']])
  })
  const cutText = '~B 0\n~D 0\n~B 1\nhalf\n~R success killed TERM\n'
  test('while it is changed: the apply is ended, its last words are heard, and the host is let go', async () => {
    const hard = new AbortController()
    const reached = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const running = lane(
      two,
      both,
      {
        inspect: facts(two, both),
        apply: (call) => ({
          give: async (decoded, request) => {
            reached.resolve()
            await ended.promise
            return says(cutText)(call).give(decoded, request)
          },
        }),
        cancel: () => {
          ended.resolve()
          return answer('')
        },
        release: answer('systemd job 7\n'),
      },
      { hardStop: hard.signal },
    )
    await reached.promise
    hard.abort()
    const { outcome, verbs, fake, end } = await running
    expect([outcome, verbs, end.changes]).toEqual(['cancelled', ['inspect', 'apply', 'cancel', 'release'], 1])
    expect(end.error).toMatchObject({
      code: 'cancelled',
      message: expect.stringMatching(/cut during 'write \/y/),
      detail: 'half\nWhat goes on there by itself:\nsystemd job 7',
    })
    expect(fake.calls[2]?.args).toEqual(['r1', 'me@here', fake.calls[1]?.args[3], '10', '120'])
  })
  test('while the host is out of reach: it is tried for a moment, and the apply is ended then', async () => {
    const hard = new AbortController()
    const { outcome, verbs } = await lane(
      two,
      both,
      {
        inspect: facts(two, both),
        apply: (call) =>
          Number(hard.signal.aborted) === 0
            ? {
                give: async () => {
                  hard.abort()
                  throw lostError()
                },
              }
            : says(cutText)(call),
        cancel: [lost(), answer('')],
        release: answer(''),
      },
      { hardStop: hard.signal },
    )
    expect([outcome, verbs.filter((verb) => verb === 'cancel').length]).toEqual(['cancelled', 2])
  })
  test('and when not even that succeeds, the lane still ends', async () => {
    const hard = new AbortController()
    const held = hold(answer(''))
    const running = lane(
      two,
      both,
      { inspect: facts(two, both), apply: held, cancel: answer('', { code: 91 }) },
      { hardStop: hard.signal },
    )
    await held.reached
    hard.abort()
    const { outcome, end } = await running
    expect([outcome, end.error?.message]).toEqual(['cancelled', expect.stringContaining('could not be ended')])
  })
  test('before it is connected', async () => {
    const run = aRun(two, createFakeTransport({ 'host-1': new Promise<never>(() => undefined) }), {
      hardStop: AbortSignal.abort(),
    })
    expect(await runLane(run, both)).toBe('cancelled')
  })
})

test('what is asked is what the steps and their conditions ask, known before connecting', () => {
  const of = play(
    host1,
    step('one', {
      facts: [
        { unit: 'a.service', property: 'ActiveState', is: 'active' },
        { path: '/c', is: 'file' },
      ],
    }),
    'two',
  )
  const question = questionOf(of, two)
  expect([question.units, question.paths, question.digests]).toEqual([
    ['a.service'],
    ['/', '/c', '/x', '/y'],
    ['/x', '/y'],
  ])
})
