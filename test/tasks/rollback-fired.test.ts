import { expect, test } from 'vitest'
import { agentUnit } from '../../src/tasks/agent/names.ts'
import { rollbackFired } from '../../src/tasks/rollback-fired.ts'
import { faultsOf, paramsOf, planOn, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'

const owner = 'r0 ada@desk 2026-11-30T10:00:00Z 200 abc upgrade to v2'
const armed: HostLiteral = { self: { rollback: { phase: 'armed', text: owner } } }

test.each<[string, HostLiteral, ReturnType<typeof result>]>([
  ['armed', armed, ['fire the rollback of run r0']],
  ['under way', { self: { rollback: { phase: 'undoing', text: owner } } }, ['fire the rollback of run r0']],
  [
    'armed, by nobody knows whom',
    { self: { rollback: { phase: 'armed', text: '' } } },
    { blocked: 'precondition-unmet' },
  ],
  ['over', { self: { rollback: { phase: 'rolled-back', text: 'r0' } } }, []],
  ['none', {}, []],
  ['not to be seen', { os: { uid: 1000 } }, { blocked: 'precondition-unmet' }],
])('%s', (_, host, wanted) => expect(result(rollbackFired, {}, host)).toEqual(wanted))

test('nobody knows afterwards how the agent stands, and it has the time that the step gives it', () => {
  const params = paramsOf(rollbackFired, { within_s: 45 })
  expect(planOn(rollbackFired, params, stateFor(rollbackFired, params, armed))).toMatchObject({
    changes: [
      {
        withinMs: 45_000,
        spoils: expect.arrayContaining([
          'path:/opt/unbounded/agent',
          'path:/usr/local',
          'path:/etc/systemd/system',
          `unit:${agentUnit}`,
        ]),
      },
    ],
  })
})

test('a time that is none is refused', () => {
  expect(faultsOf(rollbackFired as never, { within_s: 1 } as never)).not.toEqual([])
})
