import { describe, expect, test } from 'vitest'
import { DroverError, type ErrorCode } from '../../src/errors.ts'
import { ReadsUnknown, Unknown } from '../../src/facts/unknown.ts'
import { createHostFold } from '../../src/report/host-fold.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import type { Tasks } from '../../src/runner/plan.ts'
import { blocked, planned } from '../../src/tasks/task.ts'
import { answer, hold, lost, lostError } from '../transport/fake-connection.ts'
import { armedBy, at, healthy, lane, lineOf, old, renewed, switched, undoneBy, withinMs } from './guarded-world.ts'
import {
  applies,
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
} from './world.ts'

const tasks = tasksOf(switched('agent'), healthy('check'), fileTask('file', '/x'), switched('second', '/other'))
const alone = play(host1, 'agent')
const checked = play(host1, 'agent', 'check')
const good = { '/healthy': { file: '' } }

const seen = (of = alone, host = renewed()) => facts(tasks, of, host)
const untouched = (of = alone, host = old()) => facts(tasks, of, host)
const confirmed = answer('')
const released = answer('')
const undone = answer(`${lineOf('r1')}\naks: cannot go on\nstopped\n`)
const error = (code: ErrorCode): DroverError => new DroverError({ code, message: `${code}.`, remedy: 'r' })

/** As the report has it in the end. */
const armedInReport = (events: readonly RunEvent[]) => {
  const fold = createHostFold('host-1')
  for (const event of events)
    if (event.type !== 'run-started' && event.type !== 'notice' && event.type !== 'run-ended') fold.take(event)
  return fold.report().armed
}

test('what is healthy over a new connection is confirmed there, and the host is held until then', async () => {
  const now = Date.now()
  const { outcome, verbs, events, fakes, end } = await lane(tasks, alone, [
    { inspect: untouched(), apply: applies },
    { verify: seen(), confirm: confirmed, release: released },
  ])
  expect([outcome, end.changes, verbs]).toEqual([
    'changed',
    5,
    [
      ['inspect', 'apply'],
      ['verify', 'confirm', 'release'],
    ],
  ])
  expect(fakes[1]?.calls[0]?.args.at(-4)).toBe('take')
  expect(fakes[1]?.calls[1]?.args).toEqual(['r1', 'me@here'])
  const [armed] = only(events, 'rollback-armed')
  expect(armed?.what).toBe('upgrade to v2')
  expect(Date.parse(armed?.firesAt ?? '') - now).toBeGreaterThanOrEqual(withinMs)
  expect(Date.parse(armed?.firesAt ?? '') - Date.now()).toBeLessThanOrEqual(withinMs)
  expect(only(events, 'rollback-disarmed')).toMatchObject([{ what: 'upgrade to v2' }])
  expect(armedInReport(events)).toBeNull()
  const order = events.map(({ type }) => type)
  expect(order.indexOf('rollback-armed')).toBeLessThan(order.indexOf('rollback-disarmed'))
})

test('a check prints all of it and touches nothing', async () => {
  const { outcome, verbs, events } = await lane(tasks, alone, [{ inspect: untouched() }], { mode: 'check' })
  expect([outcome, verbs]).toEqual(['would-change', [['inspect']]])
  expect(only(events, 'host-planned')[0]?.steps[0]?.changes.map(({ summary }) => summary)).toEqual([
    'hold the lock /lock',
    'arm the rollback of the upgrade to v2: it fires after 90 s, and at a boot before that',
    'link /cur -> new',
    'systemctl restart a.service',
    'wait until a.service is active for 1 s',
  ])
})

describe('what does not prove healthy is undone now', () => {
  test.each<[string, Tasks, ReturnType<typeof play>, ReturnType<typeof renewed>, string, RegExp]>([
    ['a check that follows is bad', tasks, checked, renewed(), 'check', /^It is ill\. The upgrade to v2 was undone/],
    [
      'what it started has ended since, which to its step looks as if somebody had stopped it',
      tasks,
      alone,
      renewed({ units: { 'a.service': { ActiveState: 'inactive' } } }),
      'agent',
      /^a\.service was started and seen to be up, and in the look .* it is inactive\. The upgrade to v2 was undone/,
    ],
    [
      'what it started is between two attempts',
      tasks,
      alone,
      renewed({ units: { 'a.service': { ActiveState: 'activating' } } }),
      'agent',
      /it is activating\. The upgrade to v2 was undone/,
    ],
    [
      'its own step still wants something',
      tasks,
      alone,
      renewed({ paths: { '/cur': { link: 'old' } } }),
      'agent',
      /^All changes were made, but a second look still finds to do: hold/,
    ],
    [
      'a step before it was undone by somebody',
      tasks,
      play(host1, 'file', 'agent'),
      renewed(),
      'file',
      /still finds to do: write \/x.*was undone/,
    ],
  ])('%s', async (_, all, of, host, step, message) => {
    const { outcome, verbs, events, end } = await lane(all, of, [
      { inspect: facts(all, of, old()), apply: applies },
      { verify: facts(all, of, host), rollback: undone, release: released },
    ])
    expect([outcome, verbs[1], end.error?.code, end.error?.step]).toEqual([
      'rolled-back',
      ['verify', 'rollback', 'release'],
      'rolled-back',
      step,
    ])
    expect(end.error?.message).toMatch(message)
    expect(end.error?.message).toContain(
      'The upgrade to v2 was undone at 2026-11-30T10:01:00Z, and the host is back on what it ran before (/cur -> old).',
    )
    expect(end.error?.detail).toContain('aks: cannot go on\nstopped')
    expect(results(events)[step]).toBe('failed')
    expect(only(events, 'rollback-disarmed')).toEqual([])
    expect(armedInReport(events)).toBeNull()
    // What was made was made, and is told; the outcome says that it is gone again.
    expect(end.changes).toBeGreaterThanOrEqual(5)
  })

  test("the cause's own words stand above those of the rollback, and its remedy is kept", async () => {
    const { end, fakes } = await lane(tasks, checked, [
      { inspect: untouched(checked), apply: applies },
      { verify: seen(checked), rollback: undone, release: released },
    ])
    expect(end.error?.detail).toBe('cough\nWhat the host says of the rollback:\naks: cannot go on\nstopped')
    expect(end.error?.remedy).toBe('The host itself needs nothing. As to the cause: Heal it.')
    const [run, within] = fakes[1]?.calls[1]?.args ?? []
    // All that the host may need after arming, and the window of the start limit.
    expect([run, Number(within) > 300 + 120 + 5]).toEqual(['r1', true])
  })

  test('a task that breaks on what it sees proves nothing good', async () => {
    const breaking = tasksOf(
      switched('agent'),
      aTask(
        'check',
        [{ kind: 'path', path: '/cur' }],
        (view) => {
          const node = view.node('/cur')
          // While it is planned on what is predicted all is well.
          if (node.type === 'symlink' && node.target === 'new' && view.self.lease !== null) throw new Error('bug')
          return planned([])
        },
        true,
      ),
    )
    const faults: unknown[] = []
    const lease = `lease 1 ${Buffer.from('r1 me@here since now').toString('base64')}`
    const { outcome, end } = await lane(
      breaking,
      checked,
      [
        { inspect: facts(breaking, checked, old()), apply: applies },
        {
          verify: facts(breaking, checked, renewed({ self: [lease, armedBy('r1')] })),
          rollback: undone,
          release: released,
        },
      ],
      { onFault: (_host, thrown) => faults.push(thrown) },
    )
    expect([outcome, end.error?.code, faults.length]).toEqual(['rolled-back', 'rolled-back', 1])
  })

  test('a check of which nothing can be said even then', async () => {
    const unsaid = tasksOf(
      switched('agent'),
      aTask(
        'check',
        [],
        () => {
          throw new ReadsUnknown('x', new Unknown('y'))
        },
        true,
      ),
    )
    const { outcome, end } = await lane(unsaid, checked, [
      { inspect: facts(unsaid, checked, old()), apply: applies },
      { verify: facts(unsaid, checked, renewed()), rollback: undone, release: released },
    ])
    expect([outcome, end.error?.step]).toEqual(['rolled-back', 'check'])
  })

  test.each<[number, string, ErrorCode]>([
    [0, 'rolled-back', 'rolled-back'],
    [5, 'failed', 'rollback-superseded'],
  ])(
    'a step that is refused on what it sees has left the host no more alone than any other (%i)',
    async (code, outcome, wanted) => {
      const refusing = tasksOf(
        aTask(
          'first',
          [
            { kind: 'path', path: '/cur' },
            { kind: 'path', path: '/done' },
          ],
          (view) =>
            view.node('/done').type === 'absent'
              ? planned([])
              : blocked({ code: 'move-unfinished', message: 'm.', remedy: 'r' }),
        ),
        switched('agent'),
      )
      const of = play(host1, 'first', 'agent')
      const ended = await lane(refusing, of, [
        { inspect: facts(refusing, of, old()), apply: applies },
        {
          verify: facts(refusing, of, renewed({ paths: { '/done': { file: '' } } })),
          rollback: answer(lineOf('r1'), { code }),
          release: released,
        },
      ])
      expect([ended.outcome, ended.end.error?.code, results(ended.events).first]).toEqual([outcome, wanted, 'failed'])
    },
  )

  test('a step before it that wanted nothing then, and does now', async () => {
    const when = { facts: [{ path: '/done', is: 'file' }] } as const
    const all = tasksOf(fileTask('file', '/x'), switched('agent'))
    const of = play(host1, step('file', when), 'agent')
    const { outcome, end } = await lane(all, of, [
      { inspect: facts(all, of, old()), apply: applies },
      {
        verify: facts(all, of, renewed({ paths: { '/done': { file: '' } } })),
        rollback: undone,
        release: released,
      },
    ])
    expect([outcome, end.error?.step]).toEqual(['rolled-back', 'file'])
  })

  test('facts that cannot be read any more', async () => {
    const { outcome, end } = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      { verify: answer('nonsense'), rollback: undone, release: released },
    ])
    expect([outcome, end.error?.message]).toEqual([
      'rolled-back',
      expect.stringContaining('the look that would prove it'),
    ])
  })
})

describe('what it does not cover is no reason to undo it', () => {
  test('a later step has a segment of its own, and its failure leaves the switch', async () => {
    const of = play(host1, 'agent', 'file')
    const { outcome, verbs, events, end } = await lane(tasks, of, [
      { inspect: facts(tasks, of, old()), apply: applies },
      { verify: facts(tasks, of, renewed()), confirm: confirmed, apply: failsAt(0), release: released },
    ])
    expect([outcome, end.error?.code, verbs]).toEqual([
      'failed',
      'change-failed',
      [
        ['inspect', 'apply'],
        ['verify', 'confirm', 'apply', 'release'],
      ],
    ])
    expect(results(events)).toEqual({ agent: 'changed', file: 'failed' })
  })
  test('nor is a check behind such a step', async () => {
    const of = play(host1, 'agent', 'file', 'check')
    const { outcome, verbs, events } = await lane(tasks, of, [
      { inspect: facts(tasks, of, old({ paths: { '/x': { file: 'x' } } })), apply: applies },
      { verify: facts(tasks, of, renewed({ paths: { '/x': { file: 'x' } } })), confirm: confirmed, release: released },
    ])
    expect([outcome, verbs[1]]).toEqual(['failed', ['verify', 'confirm', 'release']])
    expect(results(events)).toEqual({ agent: 'changed', file: 'ok', check: 'failed' })
  })
  test('two switches are two groups, each proven over a connection of its own', async () => {
    const of = play(host1, 'agent', 'second')
    const { outcome, verbs, events } = await lane(tasks, of, [
      { inspect: facts(tasks, of, old()), apply: applies },
      { verify: facts(tasks, of, renewed()), confirm: confirmed, apply: applies },
      {
        verify: facts(tasks, of, renewed({ paths: { '/other': { link: 'new' } } })),
        confirm: confirmed,
        release: released,
      },
    ])
    expect([outcome, verbs]).toEqual([
      'changed',
      [
        ['inspect', 'apply'],
        ['verify', 'confirm', 'apply'],
        ['verify', 'confirm', 'release'],
      ],
    ])
    expect(only(events, 'rollback-disarmed').length).toBe(2)
  })
})

describe('changes that do not come to their end', () => {
  test('before anything is armed it is an ordinary failure', async () => {
    const { outcome, verbs, events } = await lane(tasks, alone, [
      { inspect: untouched(), apply: failsAt(at.hold), release: released },
    ])
    expect([outcome, verbs]).toEqual(['failed', [['inspect', 'apply', 'release']]])
    expect(only(events, 'rollback-armed')).toEqual([])
  })

  test('in the arming itself the host is asked, and the failure stands where nothing was armed', async () => {
    const { outcome, verbs, end } = await lane(tasks, alone, [
      { inspect: untouched(), apply: failsAt(at.arm), rollback: answer('', { code: 3 }), release: released },
    ])
    expect([outcome, end.error?.code, verbs]).toEqual([
      'failed',
      'change-failed',
      [['inspect', 'apply', 'rollback', 'release']],
    ])
    expect(end.error?.message).toMatch(/^The host could not arm the rollback of [^.]*\(exit code 28\)\.$/)
  })
  test('and it is undone where it was', async () => {
    const { outcome } = await lane(tasks, alone, [
      { inspect: untouched(), apply: failsAt(at.arm), rollback: undone, release: released },
    ])
    expect(outcome).toBe('rolled-back')
  })

  const armed = '~B 0\n~D 0\n~B 1\n~D 1\n~B 2\n'
  test.each<[string, string]>([
    ['a change fails', `${armed}no space\n~F 2 28\n~R exit-code exited 1\n`],
    ['a wait is in vain', `${armed}~D 2\n~B 3\n~D 3\n~B 4\ndead\n~F 4 1\n~R exit-code exited 1\n`],
    ['the host has drifted', `${armed}~X 2 YQ==\n~R exit-code exited 1\n`],
    ['its step takes too long', `${armed}~O 2\n~R signal killed KILL\n`],
    ['it is killed', `${armed}~R success killed TERM\n`],
  ])('after that, %s: it is undone over the connection that stands, and then let go', async (_, text) => {
    const { outcome, verbs, end, events } = await lane(tasks, alone, [
      { inspect: untouched(), apply: says(text), rollback: undone, release: released },
    ])
    expect([outcome, end.error?.code, verbs]).toEqual([
      'rolled-back',
      'rolled-back',
      [['inspect', 'apply', 'rollback', 'release']],
    ])
    expect(end.error?.message).toContain('and the host is back on what it ran before (/cur -> old)')
    expect(results(events)).toEqual({ agent: 'failed' })
  })

  test.each<[number, string, string, ErrorCode, RegExp]>([
    [5, lineOf('r1', 'superseded'), 'failed', 'rollback-superseded', /undid nothing: somebody else has changed/],
    [6, '', 'failed', 'rollback-failed', /is not over yet; the host goes on trying by itself/],
    [3, '', 'failed', 'rollback-failed', /No rollback of the upgrade to v2 is armed on the host any more/],
    [8, 'r9 ada@desk x', 'failed', 'rollback-failed', /it is that of run r9 by ada@desk\. It was left alone/],
    [127, 'sh: no', 'failed', 'rollback-failed', /could not be fired \(exit code 127\)/],
    [4, lineOf('r1', 'rolled-back-not-up'), 'failed', 'rollback-failed', /Nothing is armed any more/],
  ])('a rollback that ends with %i is no rollback', async (code, stdout, outcome, wanted, message) => {
    const ended = await lane(tasks, alone, [
      { inspect: untouched(), apply: failsAt(at.link), rollback: answer(stdout, { code }), release: released },
    ])
    expect([ended.outcome, ended.end.error?.code]).toEqual([outcome, wanted])
    // Why it was wanted is said first.
    expect(ended.end.error?.message).toMatch(/^The host could not link \/cur -> new \(exit code 28\)\./)
    expect(ended.end.error?.message).toMatch(message)
    expect(armedInReport(ended.events)).toBeNull()
  })
})

describe('nobody can tell the host', () => {
  const itself =
    /undoes the upgrade to v2 by itself at 20\d\d-[-0-9T:.]+Z, or at a boot before that, unless it is confirmed/
  const short = { deadlines: { ...deadlines, reconnectMs: 30 } }
  const armedThenLost = (text: string) => (call: Parameters<ReturnType<typeof says>>[0]) => ({
    give: async (...given: Parameters<ReturnType<typeof answer>['give']>) => {
      given[1].onStdout?.(Buffer.from(`\x1eB ${given[0].token}\n${text.replaceAll('~', `\x1e${call.args[3]} `)}`))
      throw lostError()
    },
  })

  test('lost for good: nothing is claimed, and what will happen and how to decide is said', async () => {
    const { outcome, verbs, end, events } = await lane(
      tasks,
      alone,
      [{ inspect: untouched(), apply: armedThenLost('~B 0\n~D 0\n~B 1\n~D 1\n') }, error('connect-failed')],
      short,
    )
    expect([outcome, end.error?.code, verbs[0]?.includes('rollback')]).toEqual(['failed', 'connection-lost', false])
    expect(end.error?.message).toMatch(itself)
    expect(end.error?.remedy).toMatch(/drover confirm -l host-1 keeps.*drover rollback --now -l host-1 undoes/)
    expect(armedInReport(events)).toEqual({
      what: 'upgrade to v2',
      firesAt: only(events, 'rollback-armed')[0]?.firesAt,
    })
  })
  test('lost in the arming: it is said that it may be armed', async () => {
    const { end, events } = await lane(
      tasks,
      alone,
      [{ inspect: untouched(), apply: armedThenLost('~B 0\n~D 0\n~B 1\n') }, error('connect-failed')],
      short,
    )
    expect(end.error?.message).toMatch(/If it had come to arming the rollback, the host undoes/)
    expect(armedInReport(events)).toBeNull()
  })
  test('lost before it was heard of: it may have come to it all the same, and the host goes by its own clock', async () => {
    const { outcome, end, events } = await lane(
      tasks,
      alone,
      [{ inspect: untouched(), apply: armedThenLost('~B 0\n') }, error('connect-failed')],
      short,
    )
    expect([outcome, end.error?.code]).toEqual(['failed', 'connection-lost'])
    expect(end.error?.message).toMatch(
      /If it had come to arming the rollback, the host undoes the upgrade to v2 by itself 90 s after that, or at a boot/,
    )
    expect(end.error?.remedy).toMatch(/drover confirm -l host-1 keeps.*drover rollback --now -l host-1 undoes/)
    expect(armedInReport(events)).toBeNull()
  })
  test('a host that opens no channel for the changes has begun none, and nothing is said of a rollback', async () => {
    const { outcome, end } = await lane(tasks, alone, [
      {
        inspect: untouched(),
        apply: () => {
          throw error('channel-failed')
        },
      },
    ])
    expect([outcome, end.error?.code, end.error?.message]).toEqual(['unreachable', 'channel-failed', 'channel-failed.'])
  })
  test('lost in the rollback: the host finishes it by itself', async () => {
    const { outcome, end } = await lane(
      tasks,
      alone,
      [{ inspect: untouched(), apply: failsAt(at.link), rollback: lost() }, error('connect-failed')],
      short,
    )
    expect([outcome, end.error?.code]).toEqual(['failed', 'connection-lost'])
    expect(end.error?.message).toMatch(/^The host could not link .*It could not be rolled back from here: /)
    expect(end.error?.message).toMatch(itself)
  })
  test('the address leads to another machine: that one is asked for nothing', async () => {
    const id = (text: string) => ({
      os: { id: text.repeat(32), boot: '01234567-89ab-cdef-0123-456789abcdef', pid1: '5' },
    })
    const { outcome, verbs, end } = await lane(tasks, alone, [
      { inspect: untouched(alone, old(id('a'))), apply: applies },
      { verify: seen(alone, renewed(id('b'))), release: released },
    ])
    expect([outcome, end.error?.code, verbs[1]]).toEqual(['failed', 'wrong-machine', ['verify', 'release']])
    expect(end.error?.message).toMatch(itself)
  })

  test('the second Ctrl-C in the changes: they are cut, and nothing is fired', async () => {
    const hard = new AbortController()
    const ended = Promise.withResolvers<void>()
    const { outcome, verbs, end, events } = await lane(
      tasks,
      alone,
      [
        {
          inspect: untouched(),
          apply: (call) => ({
            give: async (decoded, request) => {
              hard.abort()
              await ended.promise
              return says('~B 0\n~D 0\n~B 1\n~D 1\n~B 2\n~R success killed TERM\n')(call).give(decoded, request)
            },
          }),
          cancel: () => {
            ended.resolve()
            return answer('')
          },
          release: released,
        },
      ],
      { hardStop: hard.signal },
    )
    expect([outcome, verbs]).toEqual(['cancelled', [['inspect', 'apply', 'cancel', 'release']]])
    expect(end.error?.message).toMatch(itself)
    expect(armedInReport(events)).not.toBeNull()
  })
  test('the second Ctrl-C in the look over the new connection', async () => {
    const hard = new AbortController()
    const held = hold(answer(''))
    const running = lane(
      tasks,
      alone,
      [
        { inspect: untouched(), apply: applies },
        { verify: held, release: released },
      ],
      { hardStop: hard.signal },
    )
    await held.reached
    hard.abort()
    const { outcome, end } = await running
    expect([outcome, end.error?.message]).toEqual(['cancelled', expect.stringMatching(itself)])
  })
})

describe('the new connection', () => {
  test('a host that is slow to take it is tried again', async () => {
    const { outcome, events } = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      error('connect-failed'),
      error('handshake-failed'),
      { verify: seen(), confirm: confirmed, release: released },
    ])
    expect(outcome).toBe('changed')
    expect(only(events, 'host-reconnecting').map(({ why }) => why)).toEqual(['connect-failed.', 'handshake-failed.'])
  })
  test('a host that lets nobody in any more is told so over the old one, and undoes it', async () => {
    const { outcome, verbs, end } = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies, rollback: undone, release: released },
      error('auth-failed'),
    ])
    expect([outcome, verbs]).toEqual(['rolled-back', [['inspect', 'apply', 'rollback', 'release']]])
    expect(end.error?.message).toMatch(
      /^The changes were made, but a new connection, to prove them, failed: auth-failed\./,
    )
  })
})

describe('the confirmation', () => {
  test('whose answer is lost is asked for again', async () => {
    const { outcome, verbs } = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      { verify: seen(), confirm: lost() },
      { confirm: confirmed, release: released },
    ])
    expect([outcome, verbs.slice(1)]).toEqual([
      'changed',
      [
        ['verify', 'confirm'],
        ['confirm', 'release'],
      ],
    ])
  })
  test('that nobody answers leaves open what the host does', async () => {
    const { outcome, end, events } = await lane(
      tasks,
      alone,
      [{ inspect: untouched(), apply: applies }, { verify: seen(), confirm: lost() }, error('connect-failed')],
      { deadlines: { ...deadlines, reconnectMs: 30 } },
    )
    expect([outcome, end.error?.code]).toEqual(['failed', 'connection-lost'])
    expect(end.error?.message).toMatch(
      /whether the host heard so is not known: .*undoes the upgrade to v2 by itself at/,
    )
    expect(armedInReport(events)).not.toBeNull()
  })
  test.each<[string, number, string, string, ErrorCode]>([
    ['nothing is armed', 3, '', 'failed', 'rollback-failed'],
    ["another run's is", 8, 'r9 ada@desk x', 'failed', 'rollback-failed'],
    ['it cannot be disarmed', 91, 'read-only', 'failed', 'rollback-failed'],
  ])('%s', async (_, code, stdout, outcome, wanted) => {
    const ended = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      { verify: seen(), confirm: answer(stdout, { code }), release: released },
    ])
    expect([ended.outcome, ended.end.error?.code, results(ended.events)]).toEqual([
      outcome,
      wanted,
      { agent: 'failed' },
    ])
    expect(only(ended.events, 'rollback-disarmed')).toEqual([])
  })
  test('that comes when the host has given up with all files back says so', async () => {
    const ended = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      {
        verify: seen(),
        confirm: answer(`${lineOf('r1', 'rolled-back-not-up')}\n`, { code: 7 }),
        rollback: answer(`${lineOf('r1', 'rolled-back-not-up')}\n`, { code: 4 }),
        release: released,
      },
    ])
    expect([ended.outcome, ended.end.error?.code]).toEqual(['failed', 'rollback-failed'])
    expect(ended.end.error?.remedy).toMatch(/journalctl -u aks-flex-node-agent\.service.*known to be good/)
  })
  test.each<[string, Parameters<typeof renewed>[0], object]>([
    ['when it is confirmed', {}, { confirm: answer(`${lineOf('r1')}\n`, { code: 7 }) }],
    ['when it is looked at, and is under way', { self: [armedBy('r1', 'undoing')] }, {}],
    ['when it is looked at, and is over', { self: [undoneBy('r1')] }, {}],
  ])('the timer was faster %s', async (_, self, scripts) => {
    const ended = await lane(tasks, alone, [
      { inspect: untouched(), apply: applies },
      { verify: seen(alone, renewed(self)), ...scripts, rollback: undone, release: released },
    ])
    expect([ended.outcome, ended.end.error?.code, ended.verbs[1]?.at(-2)]).toEqual([
      'rolled-back',
      'rolled-back',
      'rollback',
    ])
    expect(ended.end.error?.message).toMatch(/^It was not confirmed in time: .*was undone at 2026-11-30T10:01:00Z/)
  })
})

describe('the first Ctrl-C in a group', () => {
  const interruptedIn = (of: ReturnType<typeof play>) => {
    const soft = new AbortController()
    return lane(
      tasks,
      of,
      [
        {
          inspect: facts(tasks, of, old()),
          apply: (call) => {
            soft.abort()
            return applies(call)
          },
        },
        { verify: facts(tasks, of, renewed({ paths: good })), confirm: confirmed, release: released },
      ],
      { softStop: soft.signal },
    )
  }
  test('it is finished and confirmed', async () => {
    const { outcome, verbs } = await interruptedIn(checked)
    expect([outcome, verbs[1]]).toEqual(['changed', ['verify', 'confirm', 'release']])
  })
  test('and no further segment is begun', async () => {
    const { outcome, events, end } = await interruptedIn(play(host1, 'agent', 'file'))
    expect([outcome, end.error?.code, results(events)]).toEqual([
      'cancelled',
      'cancelled',
      { agent: 'changed', file: 'failed' },
    ])
  })
})
