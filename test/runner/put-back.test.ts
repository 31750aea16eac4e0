import { expect, test } from 'vitest'
import { runLane } from '../../src/runner/lane.ts'
import type { Run } from '../../src/runner/run.ts'
import { blocked, planned, putBack, type Task } from '../../src/tasks/task.ts'
import type { RecordedHost } from '../facts/answers.ts'
import { answer, createFakeConnection, lost } from '../transport/fake-connection.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { applies, aRun, aTask, facts, failsAt, fileTask, host1, only, play, results, tasksOf } from './world.ts'

const unfit = { code: 'copy-unfit', message: 'The copy does not run.', remedy: 'Look.' } as const

/** Wants /new; a host with /half on it is put back by removing that. */
const moving: Task<unknown> = {
  ...aTask(
    'moved',
    ['/new', '/half'].map((path) => ({ kind: 'path', path, content: 9, sha256: true }) as const),
    (view) => {
      if (view.node('/half').type !== 'absent')
        return putBack([{ kind: 'remove', path: '/half', recurse: false }], unfit)
      const write = (path: string) =>
        ({ kind: 'write', path, content: 'x', mode: 0o644, owner: 'root:root', failure: unfit }) as const
      return planned(view.node('/new').type === 'absent' ? [write('/new')] : [])
    },
  ),
  putsBack: true,
}
const tasks = tasksOf(moving, fileTask('after', '/y'))
const both = play(host1, 'moved', 'after')
const seen = (...paths: string[]) =>
  facts(tasks, both, { paths: Object.fromEntries(paths.map((path) => [path, { file: 'x' }])) } as RecordedHost)

const letsGo = () => answer('')

const lane = async (scripts: Parameters<typeof createFakeConnection>[0], more: Partial<Run> = {}, of = tasks) => {
  const fake = createFakeConnection(scripts, host1)
  const run = aRun(of, createFakeTransport({ [host1.name]: fake }), more)
  const outcome = await runLane(run, both)
  const [end] = only(run.events, 'host-ended')
  return { outcome, events: run.events, verbs: fake.calls.map(({ verb }) => verb), error: end?.error }
}

test('a host that is found half way is put back, looked at, and has failed; the steps behind it are not begun', async () => {
  const { outcome, verbs, error, events } = await lane({
    inspect: seen('/half'),
    apply: applies,
    verify: seen(),
    release: letsGo,
  })
  expect([outcome, error]).toMatchObject(['failed', { code: 'copy-unfit', message: unfit.message }])
  expect(verbs).toEqual(['inspect', 'apply', 'verify', 'release'])
  expect(results(events)).toEqual({ moved: 'failed', after: 'skipped' })
})

test('a change that fails half way: the same run puts the host back, and says what failed first', async () => {
  const answers = [failsAt(0, 'exec format error\n'), applies]
  const { outcome, verbs, error } = await lane({
    inspect: seen(),
    apply: (call) => (answers.shift() ?? applies)(call),
    verify: [seen('/half'), seen()],
    release: letsGo,
  })
  expect(verbs).toEqual(['inspect', 'apply', 'release', 'verify', 'apply', 'verify', 'release'])
  expect([outcome, error]).toMatchObject([
    'failed',
    { code: 'copy-unfit', message: unfit.message, detail: expect.stringContaining('exec format error') },
  ])
})

test('where the look finds nothing to put back, nothing more is done', async () => {
  const { outcome, verbs, error } = await lane({ inspect: seen(), apply: failsAt(0), release: letsGo, verify: seen() })
  expect([outcome, error?.code, verbs]).toEqual(['failed', 'copy-unfit', ['inspect', 'apply', 'release', 'verify']])
})

test('where putting back fails, both are told', async () => {
  const { outcome, error } = await lane({
    inspect: seen(),
    apply: failsAt(0),
    verify: seen('/half'),
    release: letsGo,
  })
  expect([outcome, error?.code]).toEqual(['failed', 'copy-unfit'])
  expect(error?.message).toContain('It was to be put back, and that failed, too')
})

test('where a last look still finds to put back, it is no success', async () => {
  const { outcome, error } = await lane({
    inspect: seen('/half'),
    apply: applies,
    verify: seen('/half'),
    release: letsGo,
  })
  expect([outcome, error?.message]).toEqual(['failed', expect.stringContaining('still finds to do')])
})

test('a check says that it would fail, and changes nothing', async () => {
  const { outcome, verbs, error } = await lane({ inspect: seen('/half') }, { mode: 'check' })
  expect([outcome, error?.code, verbs]).toEqual(['failed', 'copy-unfit', ['inspect']])
})

test('the line is lost in the look for the way back: the first failure stands', async () => {
  const { outcome, error } = await lane({
    inspect: seen(),
    apply: failsAt(0),
    release: letsGo,
    verify: () => lost(),
  })
  expect([outcome, error?.code]).toEqual(['failed', 'copy-unfit'])
})

test('a task that puts nothing back is not asked', async () => {
  const { putsBack: _, ...plain } = moving
  const { verbs } = await lane(
    { inspect: seen(), apply: failsAt(0), release: letsGo },
    {},
    tasksOf(plain as Task<unknown>, fileTask('after', '/y')),
  )
  expect(verbs).toEqual(['inspect', 'apply', 'release'])
})

test('the first Ctrl-C starts nothing new, and a host that is half way is put back all the same', async () => {
  const soft = new AbortController()
  const answers = [failsAt(0), applies]
  const { outcome, verbs, error } = await lane(
    {
      inspect: seen(),
      apply: (call) => {
        soft.abort()
        return (answers.shift() ?? applies)(call)
      },
      verify: [seen('/half'), seen()],
      release: letsGo,
    },
    { softStop: soft.signal },
  )
  expect([outcome, error?.code]).toEqual(['failed', 'copy-unfit'])
  expect(verbs.filter((verb) => verb === 'apply').length).toBe(2)
})

test('where the way back is barred, that is told beside what failed', async () => {
  const barred: Task<unknown> = {
    ...moving,
    plan: (view, params, host) =>
      view.node('/half').type === 'absent'
        ? moving.plan(view, params, host)
        : blocked({ code: 'move-stuck', message: 'There is no way back.', remedy: 'Remove nothing.' }),
  }
  const { outcome, error } = await lane(
    { inspect: seen(), apply: failsAt(0), verify: seen('/half'), release: letsGo },
    {},
    tasksOf(barred, fileTask('after', '/y')),
  )
  expect([outcome, error?.code]).toEqual(['failed', 'copy-unfit'])
  expect(error?.message).toContain('was not put back: There is no way back. Remove nothing.')
})
