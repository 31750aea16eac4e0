import { expect, test } from 'vitest'
import { ROOT } from '../../src/tasks/agent/paths.ts'
import { hostRootAwaited } from '../../src/tasks/host-root-awaited.ts'
import { paramsOf, planOn, predicted, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { agent, legacy, linked, movedHost, moving1, moving2, running, stagingHost } from './move/moving.ts'

const waits = (seconds: number) => [`wait until ${ROOT}/.moving is gone, or for ${seconds} s`]
const going = (state: 'inactive' | 'failed' | 'activating') =>
  moving2({ units: { [agent]: running(state, ROOT, ROOT) } })

test.each<[when: string, host: HostLiteral, wanted: readonly string[]]>([
  ['MOVING-2, for ten seconds', moving2(), waits(172)],
  ['MOVING-1, for ten seconds', moving1(), waits(172)],
  ['MOVING, and the agent between two starts', going('activating'), waits(172)],
  ['MOVING since just now, on the next second', moving2({}, 1_000_001), waits(182)],
  ['MOVING since tomorrow, by a clock that was set back', moving2({}, 1_086_400), []],
  ['MOVING for as long as it may', moving2({}, 999_820), []],
  ['MOVING, and the agent stopped', going('inactive'), []],
  ['MOVING, and the agent failed', going('failed'), []],
  ['MOVED', movedHost(), []],
  ['LINKED', linked(), []],
  ['STAGING', stagingHost(), []],
  ['LEGACY', legacy(), []],
])('M5 %s', (_, host, wanted) => expect(result(hostRootAwaited, {}, host)).toEqual(wanted))

test('M5 it is no failure that the agent does not finish it, and how long is for the operator to say', () => {
  const params = paramsOf(hostRootAwaited, { second_pass_within_s: 30 })
  expect(planOn(hostRootAwaited, params, stateFor(hostRootAwaited, params, moving2()))).toMatchObject({
    changes: [{ orGoOn: true, withinMs: 22_000 }],
  })
})

test('afterwards nobody knows where the files lie before somebody has looked', () => {
  const params = paramsOf(hostRootAwaited, {})
  const state = stateFor(hostRootAwaited, params, moving2())
  const after = predicted(state, planOn(hostRootAwaited, params, state))
  expect(planOn(hostRootAwaited, params, after)).toEqual({ status: 'unknown' })
})

test('with --stop-at link nothing is waited for', () => {
  expect(result(hostRootAwaited, { stop_at: 'link' }, moving2())).toEqual([])
})
