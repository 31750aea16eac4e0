import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exitCode, exitCodeMeanings, exitReasons, type HostResult, type RunResult } from '../../src/report/exit-code.ts'
import type { Outcome } from '../../src/runner/events.ts'

const quiet: RunResult = { hosts: [], interrupted: false, halted: false, internal: false, detailedExitCode: false }
const host = (outcome: Outcome | null, code: string | null = null): HostResult => ({ outcome, code })
const good = host('unchanged')

describe('exit code', () => {
  test.each<[number, string, Partial<RunResult>]>([
    [0, 'no host at all', {}],
    [0, 'all unchanged', { hosts: [good, good] }],
    [0, 'changed and skipped', { hosts: [host('changed'), host('skipped')] }],
    [0, 'a plan with changes', { hosts: [host('would-change')] }],
    [6, 'the same with --detailed-exitcode', { hosts: [host('would-change')], detailedExitCode: true }],
    [0, 'a plan without changes and --detailed-exitcode', { hosts: [good], detailedExitCode: true }],
    [2, 'one failed host among good ones', { hosts: [good, host('failed', 'change-failed')] }],
    [2, 'a blocked host', { hosts: [host('blocked', 'drifted')] }],
    [9, 'a host held by another run', { hosts: [good, host('blocked', 'locked')] }],
    [2, 'one held, one failed', { hosts: [host('blocked', 'locked'), host('failed', 'change-failed')] }],
    [4, 'only unreachable hosts', { hosts: [good, host('unreachable', 'auth-failed')] }],
    [2, 'unreachable and failed', { hosts: [host('unreachable', 'connect-failed'), host('failed', 'drifted')] }],
    [9, 'unreachable and held', { hosts: [host('unreachable', 'connect-failed'), host('blocked', 'locked')] }],
    [
      4,
      'unreachable in a plan with changes',
      { hosts: [host('unreachable'), host('would-change')], detailedExitCode: true },
    ],
    [7, 'rolled back and failed', { hosts: [host('failed', 'change-failed'), host('rolled-back', 'not-converged')] }],
    [8, 'halted after a roll-back', { hosts: [host('rolled-back'), host('skipped')], halted: true }],
    [130, 'interrupted and halted', { hosts: [host('failed')], halted: true, interrupted: true }],
    [130, 'a cancelled host', { hosts: [good, host('cancelled', 'cancelled')] }],
    [1, 'a fault in one lane of an interrupted run', { hosts: [host('failed', 'internal')], interrupted: true }],
    [1, 'a fault outside the lanes', { hosts: [good], internal: true }],
    [1, 'a host that never ended, and nobody stopped the run', { hosts: [good, host(null)] }],
    [130, 'a host that never ended as the run was interrupted', { hosts: [host(null)], interrupted: true }],
    [8, 'a host that never ended as the run was halted', { hosts: [host(null)], halted: true }],
  ])('is %i for %s', (expected, _what, run) => {
    expect(exitCode({ ...quiet, ...run })).toBe(expected)
  })

  const anyHost = fc.record({
    outcome: fc.constantFrom<(Outcome | null)[]>(
      'unchanged',
      'changed',
      'would-change',
      'failed',
      'blocked',
      'unreachable',
      'rolled-back',
      'skipped',
      'cancelled',
      null,
    ),
    code: fc.constantFrom(null, 'locked', 'internal', 'change-failed'),
  })
  const anyRun = fc.record({
    hosts: fc.array(anyHost),
    interrupted: fc.boolean(),
    halted: fc.boolean(),
    internal: fc.boolean(),
    detailedExitCode: fc.boolean(),
  })
  const order = [1, 130, 8, 7, 2, 9, 4, 6]

  test('is the first in order of what applies, and more hosts never make it better', () => {
    fc.assert(
      fc.property(anyRun, anyHost, (run, another) => {
        const rank = (code: number): number => (code === 0 ? order.length : order.indexOf(code))
        const ranks = exitReasons(run).map(rank)
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
        expect(exitCode(run)).toBe(exitReasons(run)[0] ?? 0)
        expect(rank(exitCode({ ...run, hosts: [...run.hosts, another] }))).toBeLessThanOrEqual(rank(exitCode(run)))
      }),
    )
  })

  test('does not depend on the order of the hosts', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(exitReasons({ ...run, hosts: run.hosts.toReversed() })).toEqual(exitReasons(run))
      }),
    )
  })

  test('has one row per code in docs/reports.md, with the same meaning', () => {
    const page = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(\d+)` \| (.+?) \|/gm)].map(([, code, meaning]) => [code, meaning])
    expect(rows).toEqual(Object.entries(exitCodeMeanings))
  })
})
