import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { healthReported } from '../../../src/tasks/health-reported.ts'
import { machinesTargetWired } from '../../../src/tasks/machines-target-wired.ts'
import type { Task } from '../../../src/tasks/task.ts'
import { workerRunning } from '../../../src/tasks/worker-running.ts'
import { aHost, runningHost } from '../deployed.ts'
import { hostState } from '../host-state.ts'

const silent = runningHost({
  noSystemd: 'Failed to connect to bus',
  paths: { '/etc/systemd/system/machines.target.wants/systemd-nspawn@kube1.service': 'absent' },
})

const planOf = (task: Task<never>, params: unknown) => {
  const host = aHost()
  return (task as Task).plan(viewOf(hostState(silent, [...(task as Task).facts(params, host)])), params, host)
}

test.each([
  ['worker-running', workerRunning as Task<never>, { stable_s: 1, within_s: 1 }],
  [
    'machines-target-wired',
    machinesTargetWired as Task<never>,
    { restart_agent: 'heal', enable_target: false, allow_start: [], stable_s: 1, within_s: 1 },
  ],
])('%s says nothing of a host whose systemd does not answer, least of all that all is well', (_, task, params) => {
  expect(planOf(task, params)).toMatchObject({
    status: 'blocked',
    error: { code: 'inspect-failed', message: expect.stringContaining('Failed to connect to bus') },
  })
})

test('health-reported warns of it', () => {
  expect(planOf(healthReported as Task<never>, {})).toMatchObject({
    status: 'planned',
    changes: [],
    findings: [{ check: 'systemd-silent', severity: 'warning' }],
  })
})
