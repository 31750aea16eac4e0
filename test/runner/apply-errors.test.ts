import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import { DroverError, type ErrorCode } from '../../src/errors.ts'
import { applyError, goesOn, withWhatGoesOn } from '../../src/runner/apply-errors.ts'
import type { ApplyEnd } from '../../src/runner/apply-progress.ts'

const changes: Change[] = [
  { kind: 'remove', path: '/x', recurse: false },
  {
    kind: 'systemctl',
    verb: 'start',
    unit: 'a.service',
    failure: { code: 'worker-down', message: 'The worker does not come up.', remedy: 'Look.' },
  },
  { kind: 'directory', path: '/d', mode: 0o755, owner: 'root:root' },
]
const planned = changes.map((change) => ({ change, expects: [], summary: summaryOf(change), step: 's', withinS: 90 }))
const applying = { host: 'host-1', changes: planned, isCancelled: false }
const complete: ApplyEnd = { kind: 'complete' }

test('all made is no error', () => expect(applyError(0, '', complete, applying)).toBeNull())

test.each<[number, string, ApplyEnd, object]>([
  [75, 'drover run r2 by you', complete, { code: 'locked', message: expect.stringContaining('drover run r2 by you') }],
  [
    96,
    'the apply unit ended without a result',
    complete,
    { code: 'apply-incomplete', detail: 'the apply unit ended without a result' },
  ],
  [
    94,
    'Failed to start',
    complete,
    { code: 'apply-refused', message: expect.stringContaining('94'), detail: 'Failed to start' },
  ],
  [91, '', complete, { code: 'apply-refused' }],
  [74, '', complete, { code: 'apply-refused' }],
  [
    0,
    '',
    { kind: 'failed', change: 0, code: 28, words: 'no space' },
    { code: 'change-failed', message: 'The host could not remove /x (exit code 28).', detail: 'no space' },
  ],
  [
    0,
    '',
    { kind: 'failed', change: 1, code: 1, words: 'w' },
    { code: 'worker-down', message: 'The worker does not come up.', remedy: 'Look.', detail: 'w' },
  ],
  [
    0,
    '',
    { kind: 'failed', change: 2, code: 1, words: 'cat: write error: No space left on device' },
    {
      code: 'no-space',
      message: expect.stringContaining('could not create directory /d'),
      detail: expect.stringContaining('No space'),
    },
  ],
  [0, '', { kind: 'failed', change: 0, code: 1, words: 'No space left on device' }, { code: 'change-failed' }],
  [
    0,
    '',
    { kind: 'failed', change: 9, code: 1, words: '' },
    { code: 'change-failed', message: expect.stringContaining('could not begin') },
  ],
  [
    0,
    '',
    { kind: 'drifted', change: 0, found: '/x is a link to y' },
    { code: 'drifted', message: expect.stringContaining("/x is a link to y. 'remove /x' was not done") },
  ],
  [0, '', { kind: 'cancelled' }, { code: 'cancelled' }],
  [98, '', complete, { code: 'cancelled' }],
  [0, '', { kind: 'old', seconds: 7 }, { code: 'drifted', message: expect.stringContaining('7 s too late') }],
  [
    0,
    '',
    { kind: 'late', change: 0, words: 'w' },
    {
      code: 'step-timeout',
      message: "The step 's' did not end within 90 s and was cut during 'remove /x'.",
      detail: 'w',
    },
  ],
  [
    0,
    '',
    { kind: 'broken', change: 0, verdict: 'timeout killed TERM', words: '' },
    { code: 'apply-incomplete', message: expect.stringContaining('longer than all of its changes may together') },
  ],
  [
    0,
    '',
    { kind: 'broken', change: 1, verdict: 'success killed TERM', words: 'w' },
    {
      code: 'apply-incomplete',
      message: expect.stringMatching(/during 'systemctl start a.service' \(systemd: success killed TERM\)/),
      detail: 'w',
    },
  ],
  [
    0,
    '',
    { kind: 'broken', change: null, verdict: '', words: '' },
    { code: 'apply-incomplete', message: expect.stringContaining('no verdict') },
  ],
])('exit %d, %j, %j', (code, stderr, end, expected) => {
  const error = applyError(code, stderr, end, applying)
  expect(error).toMatchObject(expected)
  expect(error?.remedy).not.toBe('')
})

test('an apply that a second Ctrl-C ended was cut, and in which change', () => {
  const end: ApplyEnd = { kind: 'broken', change: 1, verdict: 'success killed TERM', words: 'w' }
  expect(applyError(0, '', end, { ...applying, isCancelled: true })).toMatchObject({
    code: 'cancelled',
    message: "The run was interrupted, and the apply was cut during 'systemctl start a.service'.",
    detail: 'w',
  })
})

test('what goes on without the apply is told with what ended it, and with no other error', () => {
  const error = (code: 'cancelled' | 'drifted', detail?: string) => ({
    ...{ code, message: 'm', remedy: 'r' },
    ...(detail !== undefined && { detail }),
  })
  expect(withWhatGoesOn(error('cancelled', 'd'), 'systemd job 7')).toMatchObject({
    detail: 'd\nWhat goes on there by itself:\nsystemd job 7',
  })
  expect(withWhatGoesOn(error('cancelled'), '')).toEqual(error('cancelled'))
  expect(withWhatGoesOn(error('drifted'), 'x')).toEqual(error('drifted'))
})

test('of a host that is out of reach is said that its apply goes on, and for how long', () => {
  const error = new DroverError({ code: 'auth-failed', message: 'No key fits.', remedy: 'r', detail: 'd' })
  expect(goesOn(error, 70)).toMatchObject({
    code: 'auth-failed',
    message: expect.stringMatching(/^No key fits\. If .*drover-apply\.service\), for 70 s at the most\.$/),
    detail: 'd',
    cause: error,
  })
})

describe('a rollback that is confirmed or fired as a change', () => {
  const line = (how: string): string => `r0 ada@desk 2026-11-30T10:00:00Z ${how} 2026-11-30T10:01:00Z upgrade to v2`
  test.each<[Change['kind'], number, string, ErrorCode, RegExp]>([
    ['confirm', 7, line('rolled-back'), 'rolled-back', /undone it by itself at 2026-11-30T10:01:00Z/],
    ['confirm', 7, line('superseded'), 'rollback-superseded', /undid nothing: somebody else had changed/],
    ['confirm', 7, line('superseded-by-move'), 'rollback-superseded', /the agent moved its files/],
    ['confirm', 7, '', 'rollback-failed', /already carrying out the rollback of run r0/],
    ['confirm', 3, '', 'rollback-failed', /no rollback of run r0 to confirm any more/],
    ['confirm', 8, 'r9 eva@desk x', 'rollback-failed', /that of run r9 by eva@desk/],
    ['confirm', 91, 'read-only', 'rollback-failed', /could not be confirmed \(exit code 91\)/],
    ['fire', 5, line('superseded'), 'rollback-superseded', /undid nothing/],
    ['fire', 6, 'busy', 'rollback-failed', /goes on trying by itself/],
    ['fire', 3, '', 'rollback-failed', /so none was fired/],
    ['fire', 8, '', 'rollback-failed', /that of run \(unknown\) by somebody/],
    ['fire', 91, '', 'rollback-failed', /could not be fired \(exit code 91\)/],
  ])('%s, exit %i, %j: %s', (kind, code, words, wanted, message) => {
    const change = (kind === 'confirm' ? { kind, run: 'r0' } : { kind, run: 'r0', withinMs: 1 }) as Change
    const of = { ...applying, changes: [{ change, expects: [], summary: summaryOf(change), step: 's' }] }
    const error = applyError(0, '', { kind: 'failed', change: 0, code, words }, of)
    expect(error).toMatchObject({ code: wanted, message: expect.stringMatching(message) })
    expect(error?.remedy).toMatch(/\S/)
  })
  test('a change that says itself what its failure means keeps its word', () => {
    const failure = { code: 'agent-unhealthy', message: 'm', remedy: 'r' } as const
    const change: Change = { kind: 'confirm', run: 'r0', failure }
    const of = { ...applying, changes: [{ change, expects: [], summary: '', step: 's' }] }
    expect(applyError(0, '', { kind: 'failed', change: 0, code: 3, words: '' }, of)).toMatchObject(failure)
  })
})
