import { describe, expect, test } from 'vitest'
import { planned } from '../../src/tasks/task.ts'
import { armedBy, lane, undoneBy } from './guarded-world.ts'
import { applies, aTask, facts, fileTask, host1, only, play, results, tasksOf } from './world.ts'

const confirming = aTask('confirming', [], ({ self }) =>
  planned(self.rollback === null ? [] : [{ kind: 'confirm', run: 'r0' }]),
)
const firing = aTask('firing', [], ({ self }) =>
  planned(self.rollback?.phase === 'armed' ? [{ kind: 'fire', run: 'r0', withinMs: 5000, spoils: ['path:/x'] }] : []),
)
const looking = aTask('looking', [], () => planned([]), true)
const tasks = tasksOf(fileTask('file', '/x'), confirming, firing, looking)
const there = { '/x': { file: 'x' } } as const
const on = (of: ReturnType<typeof play>, self: string[], paths = {}) => facts(tasks, of, { self, paths })

describe('a rollback that another run armed', () => {
  const file = play(host1, 'looking', 'file')
  test.each(['apply', 'check'] as const)('holds back every change, %s', async (mode) => {
    const { outcome, verbs, events, end } = await lane(tasks, file, [{ inspect: on(file, [armedBy('r0')]) }], { mode })
    expect([outcome, verbs, end.error?.code, end.error?.step, end.changes]).toEqual([
      'blocked',
      [['inspect']],
      'rollback-armed',
      'file',
      0,
    ])
    expect(end.error?.message).toMatch(
      /^The rollback of the upgrade to v2 that run r0 by me@here armed fires in 100 s\. Nothing else/,
    )
    expect(end.error?.remedy).toMatch(/drover confirm -l host-1 .*drover rollback --now -l host-1 /)
    expect(only(events, 'notice')).toMatchObject([
      { message: 'the rollback of the upgrade to v2 that run r0 by me@here armed fires in 100 s' },
    ])
  })
  test('that is carried out holds them back, too, and there is nothing to decide', async () => {
    const { outcome, end } = await lane(tasks, file, [{ inspect: on(file, [armedBy('r0', 'undoing')]) }])
    expect([outcome, end.error?.code]).toEqual(['blocked', 'rollback-armed'])
    expect(end.error?.message).toMatch(/is being carried out/)
    expect(end.error?.remedy).not.toContain('drover confirm')
    expect(end.error?.remedy).toMatch(/ends by itself, .*drover rollback --now -l host-1 .*waits/)
  })
  test('whose time is over, or whose line cannot be read, is named as far as it goes', async () => {
    const late = await lane(tasks, file, [{ inspect: on(file, [armedBy('r0', 'armed', 90)]) }])
    expect(late.end.error?.message).toContain('armed is due.')
    const unread = await lane(tasks, file, [{ inspect: on(file, ['rollback armed ']) }])
    expect(unread.end.error?.message).toMatch(/^The rollback of the change that run \(unknown\) armed is due\./)
  })
  test('is noticed by a run that changes nothing, and no more', async () => {
    const { outcome, verbs, events } = await lane(tasks, file, [{ inspect: on(file, [armedBy('r0')], there) }])
    expect([outcome, verbs, only(events, 'notice').length]).toEqual(['unchanged', [['inspect']], 1])
  })
  test('lets a plan through that begins with its confirmation, and what comes after it', async () => {
    const of = play(host1, 'confirming', 'file')
    const { outcome, verbs, events } = await lane(tasks, of, [
      { inspect: on(of, [armedBy('r0')]), apply: applies, verify: on(of, [], there) },
    ])
    expect([outcome, verbs, results(events)]).toEqual([
      'changed',
      [['inspect', 'apply', 'verify']],
      { confirming: 'changed', file: 'changed' },
    ])
  })
  test('and one that fires it; the line it leaves is left for the next run', async () => {
    const of = play(host1, 'firing')
    const { outcome, verbs } = await lane(tasks, of, [
      { inspect: on(of, [armedBy('r0')]), apply: applies, verify: on(of, [undoneBy('r0')]) },
    ])
    expect([outcome, verbs]).toEqual(['changed', [['inspect', 'apply', 'verify']]])
  })
  test('does not let through a change that stands before its confirmation', async () => {
    const of = play(host1, 'file', 'confirming')
    const { outcome, end } = await lane(tasks, of, [{ inspect: on(of, [armedBy('r0')]) }])
    expect([outcome, end.error?.step]).toEqual(['blocked', 'file'])
  })
  test('leaves what a cut run owes for later', async () => {
    const owed = [`owed ${Buffer.from('daemon-reload').toString('base64')}`]
    const of = play(host1, 'confirming')
    const { outcome, events, verbs } = await lane(tasks, of, [
      {
        inspect: on(of, [...owed, armedBy('r0')]),
        apply: applies,
        verify: [on(of, owed), on(of, [])],
      },
    ])
    expect([outcome, verbs]).toEqual(['changed', [['inspect', 'apply', 'verify', 'apply', 'verify']]])
    expect(only(events, 'change-done').map(({ summary }) => summary)).toEqual([
      'disarm the rollback of run r0',
      'systemctl daemon-reload',
    ])
  })
})

describe('a rollback of an earlier run that is over', () => {
  const file = play(host1, 'file')
  test.each([
    [
      'rolled-back',
      /^the upgrade to v2 of run r0 by me@here was rolled back at 2026-11-30T10:01:00Z: the host is back/,
    ],
    [
      'rolled-back-not-up',
      /^the files of the upgrade to v2 of run r0 by me@here were put back at 2026-11-30T10:01:00Z, but the agent does not stay up/,
    ],
    ['superseded', /was to be rolled back at .*, and nothing was undone, since somebody else had changed it/],
    ['superseded-by-move', /nothing was undone, since the agent had moved its files/],
  ])('%s: is told, and its line is removed with the first changes', async (how, message) => {
    const { outcome, events } = await lane(tasks, file, [
      { inspect: on(file, [undoneBy('r0', how)]), apply: applies, verify: on(file, [], there) },
    ])
    expect(outcome).toBe('changed')
    expect(only(events, 'notice')[0]?.message).toMatch(message)
    expect(only(events, 'change-done').map(({ summary }) => summary)).toEqual([
      'remove /var/lib/drover/rolled-back',
      'write /x (0644 root:root, 1 bytes)',
    ])
    expect(results(events)).toEqual({ 'told of an earlier rollback': 'changed', file: 'changed' })
  })
  test('is only told of where nothing else is to be done', async () => {
    const { outcome, verbs, events } = await lane(tasks, file, [{ inspect: on(file, [undoneBy('r0')], there) }])
    expect([outcome, verbs, only(events, 'notice').length]).toEqual(['unchanged', [['inspect']], 1])
  })
  test('that came about meanwhile is for the next run to remove', async () => {
    const of = play(host1, 'firing', 'file')
    const { events } = await lane(tasks, of, [
      {
        inspect: on(of, [armedBy('r0')]),
        apply: applies,
        verify: [on(of, [undoneBy('r0')]), on(of, [undoneBy('r0')], there)],
      },
    ])
    expect(only(events, 'change-done').map(({ summary }) => summary)).toEqual([
      'fire the rollback of run r0',
      'write /x (0644 root:root, 1 bytes)',
    ])
  })
})
