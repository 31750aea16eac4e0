import { expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import { applyError } from '../../src/runner/apply-errors.ts'
import type { ApplyEnd } from '../../src/runner/apply-progress.ts'

const changes: Change[] = [
  { kind: 'remove', path: '/x', recurse: false },
  {
    kind: 'systemctl',
    verb: 'start',
    unit: 'a.service',
    failure: { code: 'worker-down', message: 'The worker does not come up.', remedy: 'Look.' },
  },
]
const planned = changes.map((change) => ({ change, expects: [], summary: summaryOf(change) }))
const complete: ApplyEnd = { kind: 'complete' }

test('all made is no error', () => expect(applyError(0, '', complete, planned)).toBeNull())

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
  const error = applyError(code, stderr, end, planned)
  expect(error).toMatchObject(expected)
  expect(error?.remedy).not.toBe('')
})
