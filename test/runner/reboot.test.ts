import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { DroverError, type ErrorCode, errorCodes } from '../../src/errors.ts'
import type { StepPlan } from '../../src/runner/plan.ts'
import { isAway, isUnchanged, mayPass, nothingSeen, rebootTimeout, segmentOf } from '../../src/runner/reboot.ts'

const error = (code: ErrorCode, message = 'refused'): DroverError => new DroverError({ code, message, remedy: 'Wait.' })

const planned = (name: string, ...changes: Change[]): StepPlan => ({
  name,
  task: 't',
  status: 'planned',
  changes: changes.map((change) => ({ change, expects: [], summary: change.kind })),
  findings: [],
})
const reboot: Change = { kind: 'reboot', withinMs: 1000 }
const reload: Change = { kind: 'systemctl', verb: 'daemon-reload' }
const names = (steps: readonly StepPlan[]): string[] => steps.map(({ name }) => name)

describe('a segment', () => {
  test('without a reboot is all there is', () => {
    const steps = [planned('a', reload), { ...planned('b'), status: 'skipped' as const }, planned('c')]
    const { changes, reboot: none, settles, waits } = segmentOf({ steps })
    expect([changes.map(({ step }) => step), none, names(settles), waits]).toEqual([['a'], null, ['a', 'c'], []])
  })
  test('ends with the first reboot, and what is planned after it waits', () => {
    const steps = [planned('a', reload), planned('b', reload, reboot), planned('c', reload), planned('d', reboot)]
    const segment = segmentOf({ steps })
    expect(segment.changes.map(({ step, summary }) => `${step} ${summary}`)).toEqual(['a systemctl', 'b systemctl'])
    expect(segment.reboot).toMatchObject({ step: 'b', change: reboot })
    expect([names(segment.settles), names(segment.waits)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })
  test('ends with a step that arms a rollback, all of whose changes are in it', () => {
    const arm: Change = {
      ...{ kind: 'arm', what: 'w', candidate: 'c', withinMs: 1000 },
      scope: { lock: '/lock', root: '/opt' },
    }
    const segment = segmentOf({ steps: [planned('a', reload), planned('b', arm, reload), planned('c', reload)] })
    expect(segment.changes.map(({ step, summary }) => `${step} ${summary}`)).toEqual([
      'a systemctl',
      'b arm',
      'b systemctl',
    ])
    expect([segment.reboot, names(segment.settles), names(segment.waits)]).toEqual([null, ['a', 'b'], ['c']])
  })
  test('of a step that wants more after its reboot is a fault: it would reboot for ever', () => {
    expect(() => segmentOf({ steps: [planned('a', reboot, reload)] })).toThrow('not the last change')
  })
})

describe('a reboot that came to nothing says which of the three it was', () => {
  test.each([
    ['never went down', nothingSeen, 'never went down'],
    ['never went down, and was looked at anew', isUnchanged(nothingSeen), 'never went down'],
    ['was away and came back as it was', isUnchanged(isAway(error('connect-failed'))), 'on the same boot as before'],
    [
      'never came up',
      isAway(error('connect-timeout', 'no answer from 10.0.0.7')),
      'not reached again within 90 s: no answer',
    ],
    [
      'came back as it was and went away again',
      isAway(error('connect-failed')),
      'went down to reboot and was not reached again',
    ],
  ])('%s', (_, sights, words) => {
    const { code, message } = rebootTimeout(sights, 90_000)
    expect([code, message]).toEqual(['reboot-timeout', expect.stringContaining(words)])
  })
  test('and the three have nothing in common but their code', () => {
    const messages = [nothingSeen, isAway(error('connect-failed')), isUnchanged(isAway(error('connect-failed')))].map(
      (sights) => rebootTimeout(sights, 1000).message,
    )
    expect(new Set(messages).size).toBe(3)
  })
})

test('what a host does on its way down or up passes; who it is, and what drover itself does, is final', () => {
  const codes = Object.keys(errorCodes) as ErrorCode[]
  expect(codes.filter((code) => mayPass(error(code))).sort()).toEqual([
    'auth-failed',
    'become-failed',
    'channel-failed',
    'command-timeout',
    'connect-failed',
    'connect-timeout',
    'connection-lost',
    'handshake-failed',
    'resolve-failed',
  ])
})
