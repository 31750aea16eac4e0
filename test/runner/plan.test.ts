import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { planHost } from '../../src/runner/plan.ts'
import { blocked, planned, type Task } from '../../src/tasks/task.ts'
import { type HostLiteral, hostState } from '../tasks/host-state.ts'
import { aTask, fileTask, host1, play, step, tasksOf, unitTask } from './world.ts'

const restart = (unit: string): Change => ({ kind: 'systemctl', verb: 'restart', unit })
const plan = (
  literal: HostLiteral,
  tasks: readonly Task<unknown>[],
  steps: readonly (string | ReturnType<typeof step>)[] = tasks.map(({ name }) => name),
) => {
  const map = tasksOf(...tasks)
  const asked: Fact[] = tasks.flatMap((task) => [...task.facts({}, host1)])
  return planHost(play(host1, ...steps), map, hostState(literal, asked))
}
const shown = (of: ReturnType<typeof plan>) =>
  of.steps.map(({ name, status, changes }) => [name, status, changes.map(({ summary }) => summary)])

test('each step sees what the steps before it will have done', () => {
  const made = aTask('dir', [{ kind: 'path', path: '/d' }], (view) =>
    planned(
      view.node('/d').type === 'directory' ? [] : [{ kind: 'directory', path: '/d', mode: 0o755, owner: 'root:root' }],
    ),
  )
  const planOf = plan({ paths: { '/': { dir: true } } }, [
    made,
    fileTask('file', '/d/f'),
    fileTask('same', '/d/f'),
    fileTask('other', '/d/f', 'y'),
  ])
  expect(shown(planOf)).toEqual([
    ['dir', 'planned', ['create directory /d (0755 root:root)']],
    ['file', 'planned', ['write /d/f (0644 root:root, 1 bytes)']],
    ['same', 'planned', []],
    ['other', 'planned', ['write /d/f (0644 root:root, 1 bytes)']],
  ])
  expect(planOf.steps[3]?.changes[0]).toMatchObject({
    expects: [{ path: '/d/f', is: 'file' }],
    diff: expect.stringContaining('-x\n'),
  })
})

describe('a segment ends', () => {
  const reads = (what: 'MainPID' | 'ActiveState') =>
    aTask('reads', [{ kind: 'unit', name: 'a.service' }], (view) => {
      view.unit('a.service').get(what)
      return planned([])
    })
  const units = { 'a.service': { ActiveState: 'inactive' } }
  test('where a later step reads what only the changes can make known', () => {
    expect(
      shown(
        plan({ units }, [unitTask('up', 'a.service', restart('a.service')), reads('MainPID'), fileTask('later', '/x')]),
      ),
    ).toEqual([
      ['up', 'planned', ['systemctl restart a.service']],
      ['reads', 'unknown', []],
    ])
  })
  test('and not where it reads what is known all the same', () => {
    expect(
      shown(
        plan({ units }, [
          unitTask('up', 'a.service', restart('a.service')),
          reads('ActiveState'),
          fileTask('later', '/x'),
        ]),
      ).map(([, status]) => status),
    ).toEqual(['planned', 'planned', 'planned'])
  })
  test('where a change would lie where nobody knows, and none of its step is planned', () => {
    const through = aTask('through', [{ kind: 'path', path: '/l' }], () =>
      planned([
        { kind: 'write', path: '/before', content: '', mode: 0o644, owner: 'root:root' },
        { kind: 'write', path: '/l/x', content: '', mode: 0o644, owner: 'root:root' },
      ]),
    )
    const link = aTask('link', [{ kind: 'path', path: '/l' }], () =>
      planned([{ kind: 'link', path: '/l', target: '/far/off' }]),
    )
    const planOf = plan({ paths: { '/': { dir: true } } }, [link, through, fileTask('later', '/y')])
    expect(shown(planOf)).toEqual([
      ['link', 'planned', ['link /l -> /far/off']],
      ['through', 'unknown', []],
    ])
    expect(planOf.steps[1]?.why).toContain('link /l')
    expect(planOf.predicted.tree.nodes.has('/before')).toBe(false)
  })
})

test.each<[string, ReturnType<typeof blocked>]>([
  [
    'blocked',
    blocked({ code: 'path-in-the-way', message: 'm', remedy: 'r' }, [
      { check: 'c', target: 't', severity: 'error', message: 'm', ignored: false },
    ]),
  ],
  ['failed', { status: 'failed', error: { code: 'preflight-failed', message: 'm', remedy: 'r' } }],
])('a step that is %s ends the plan, with its error and findings', (status, refusal) => {
  const planOf = plan({}, [fileTask('first', '/x'), aTask('second', [], () => refusal), fileTask('third', '/y')])
  expect(shown(planOf).map(([name, is]) => [name, is])).toEqual([
    ['first', 'planned'],
    ['second', status],
  ])
  expect(planOf.steps[1]).toMatchObject({
    error: { message: 'm' },
    findings: 'findings' in refusal ? refusal.findings : [],
  })
})

test('what the host does not show blocks, with a remedy', () => {
  const planOf = plan({ paths: { '/x': { unreadable: 'no right' } } }, [fileTask('first', '/x')])
  expect(planOf.steps[0]).toMatchObject({
    status: 'blocked',
    error: {
      code: 'inspect-failed',
      message: '/x cannot be read: no right',
      remedy: expect.stringContaining('root rights'),
    },
  })
})

test.each<[string, Error]>([
  ['an error of a task', new Error('bug')],
  ['what no fact asked for', new Error('a task reads path /y, which its facts() did not ask for')],
])('%s is thrown: it is no state of the host', (_, error) => {
  const bad = aTask('bad', [], () => {
    throw error
  })
  expect(() => plan({}, [bad])).toThrow(error)
  expect(() => plan({}, [], ['nobody'])).toThrow('no task nobody')
})

describe('when', () => {
  const steps = [
    step('first', { os: ['ubuntu'] }),
    step('second', { facts: [{ unit: 'a.service', property: 'ActiveState', is: 'active' }] }),
    'third',
  ]
  const tasks = [
    fileTask('first', '/x'),
    unitTask('second', 'a.service', restart('a.service')),
    fileTask('third', '/y'),
  ]
  test('a step that is not for this host is skipped, and those after it are not', () => {
    const planOf = plan({ units: { 'a.service': { ActiveState: 'inactive' } } }, tasks, steps)
    expect(shown(planOf).map(([name, status]) => [name, status])).toEqual([
      ['first', 'skipped'],
      ['second', 'skipped'],
      ['third', 'planned'],
    ])
    expect(planOf.steps.map(({ why }) => why)).toEqual([
      'the os is rhel, not ubuntu',
      'ActiveState of a.service is inactive, not active',
      undefined,
    ])
  })
  test('a condition on what is not known yet ends the segment', () => {
    const spoils = unitTask('first', 'a.service', { ...restart('a.service'), spoils: ['unit:a.service'] })
    const planOf = plan(
      { units: { 'a.service': { ActiveState: 'inactive' } } },
      [spoils, fileTask('third', '/y')],
      ['first', step('third', { facts: [{ unit: 'a.service', property: 'ActiveState', is: 'active' }] })],
    )
    expect(shown(planOf).map(([name, status]) => [name, status])).toEqual([
      ['first', 'planned'],
      ['third', 'unknown'],
    ])
  })
})

describe('a stop or restart that would reach what nobody looked at is refused', () => {
  const wants = (change: Change) => aTask('wants', [], () => planned([change]))
  const units = {
    'a.service': { ActiveState: 'active', BoundBy: 'b.service' },
    'b.service': { ActiveState: 'active', RequiredBy: 'far.service' },
    'c.service': { ActiveState: 'active' },
  }
  test.each([
    ['restart', 'a.service', 'far.service'],
    ['stop', 'b.service', 'far.service'],
    ['stop', 'unseen.service', 'unseen.service'],
  ] as const)('%s %s', (verb, unit, reached) => {
    const planOf = plan({ units }, [wants({ kind: 'systemctl', verb, unit }), fileTask('later', '/x')])
    expect(shown(planOf)).toEqual([['wants', 'blocked', []]])
    expect(planOf.steps[0]?.error).toMatchObject({
      code: 'propagation-unknown',
      message: expect.stringContaining(reached),
    })
  })
  test.each(['start', 'enable'] as const)('%s reaches nobody', (verb) => {
    expect(
      shown(plan({ units }, [wants({ kind: 'systemctl', verb, unit: 'a.service' })])).map(([, status]) => status),
    ).toEqual(['planned'])
  })
  test.each([
    ['RequisiteOf', 'stop'],
    ['RequisiteOf', 'restart'],
    ['PropagatesStopTo', 'stop'],
    ['Conflicts', 'restart'],
    ['ConflictedBy', 'restart'],
  ] as const)('by %s on a %s', (property, verb) => {
    const related = { 'a.service': { ActiveState: 'active', [property]: 'far.service shutdown.target' } }
    const planOf = plan({ units: related }, [wants({ kind: 'systemctl', verb, unit: 'a.service' })])
    expect(planOf.steps[0]?.error?.message).toContain('far.service')
  })
  describe('also after a reload, when nobody knows whom it reaches: the segment ends before it', () => {
    const unit = { ActiveState: 'active', RequiredBy: 'stranger.service' }
    const stop = aTask('stop', [{ kind: 'unit', name: 'a.service' }], (view) =>
      planned(view.unit('a.service').isActive ? [{ kind: 'systemctl', verb: 'stop', unit: 'a.service' }] : []),
    )
    const loads = (path: string) =>
      aTask('loads', [{ kind: 'path', path }], () =>
        planned([
          { kind: 'write', path, content: '', mode: 0o644, owner: 'root:root' },
          { kind: 'systemctl', verb: 'daemon-reload' },
        ]),
      )
    test('alone it is refused', () => {
      expect(shown(plan({ units: { 'a.service': unit } }, [stop]))).toEqual([['stop', 'blocked', []]])
    })
    test.each([
      '/etc/systemd/system/a.service',
      '/etc/systemd/system/a.service.d/x.conf',
      '/etc/systemd/system/service.d/x.conf',
      '/etc/systemd/system/stranger.service',
    ])('after %s was written', (path) => {
      for (const RequiredBy of ['stranger.service', '']) {
        const planOf = plan({ units: { 'a.service': { ...unit, RequiredBy } } }, [
          loads(path),
          stop,
          fileTask('later', '/x'),
        ])
        expect(shown(planOf)).toEqual([
          ['loads', 'planned', [expect.stringContaining(path), 'systemctl daemon-reload']],
          ['stop', 'unknown', []],
        ])
        expect(planOf.predicted.units.get('a.service')?.properties.ActiveState).toBe('active')
      }
    })
    test('a file that is none of a unit changes nothing of it', () => {
      expect(
        shown(plan({ units: { 'a.service': { ActiveState: 'active' } } }, [loads('/etc/x.conf'), stop]))[1],
      ).toEqual(['stop', 'planned', ['systemctl stop a.service']])
    })
  })
  test('and one that reaches only what is known is planned', () => {
    expect(shown(plan({ units }, [wants(restart('c.service'))])).map(([, status]) => status)).toEqual(['planned'])
  })
})

test('a play that only looks changes nothing, not even what a cut run owes', () => {
  const look: Task<unknown> = { ...aTask('look', [], () => planned([])), isCheck: true }
  expect(shown(plan({ self: { owed: ['daemon-reload'], leftovers: ['/.drover.r.0'] } }, [look]))).toEqual([
    ['look', 'planned', []],
  ])
})

test('what an upload left goes first, but only by a plan that knows its end: a later step may want it', () => {
  const left = `/opt/.drover-${'a'.repeat(64)}`
  const self = { leftovers: [left] }
  const units = { 'a.service': { ActiveState: 'active' } }
  const check = aTask('check', [], () => planned([]))
  expect(shown(plan({ self }, [check]))[0]).toEqual(['left by an upload that was cut', 'planned', [`remove ${left}`]])
  const spoils = aTask('spoils', [], () =>
    planned([{ kind: 'run', argv: ['x'], timeoutMs: 1000, spoils: ['unit:a.service'] }]),
  )
  const midway = shown(plan({ self, units }, [spoils, unitTask('up', 'a.service', restart('a.service'))]))
  expect(midway.map(([name, status]) => [name, status])).toEqual([
    ['spoils', 'planned'],
    ['up', 'unknown'],
  ])
})

test('what a cut run owes comes first', () => {
  const planOf = plan({ self: { owed: ['daemon-reload'] }, units: { 'a.service': { ActiveState: 'inactive' } } }, [
    unitTask('up', 'a.service', restart('a.service')),
  ])
  expect(shown(planOf)).toEqual([
    ['owed by a run that was cut', 'planned', ['systemctl daemon-reload']],
    ['up', 'unknown', []],
  ])
})
