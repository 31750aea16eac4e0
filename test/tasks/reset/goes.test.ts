import { expect, test } from 'vitest'
import { resetPossible } from '../../../src/tasks/reset-possible.ts'
import { paramsOf, planOn, stateFor } from '../general/planning.ts'
import type { HostLiteral } from '../host-state.ts'
import { hosts, network } from './hosts.ts'

const told = (host: HostLiteral): string | undefined => {
  const params = paramsOf(resetPossible, {})
  const plan = planOn(resetPossible, params, stateFor(resetPossible, params, host))
  if (plan.status !== 'planned') throw new Error(`it is ${plan.status}`)
  return plan.findings?.find(({ check }) => check === 'what-goes')?.message
}

test('what a reset is about is told before anything is stopped, so that a dry run shows it', () => {
  const message = told(hosts.MOVED())
  for (const path of [
    'aks-flex-node-agent.service',
    '/etc/aks-flex-node',
    '/var/lib/machines/kube1',
    '/opt/unbounded/agent/bin/unbounded-agent-nspawn-lifecycle',
  ])
    expect(message).toContain(path)
  // What is kept is no part of it.
  expect(message).not.toContain('aks-flex-node-blue')
})

test('nothing is told of a host that has nothing of the agent', () =>
  expect(told({ probes: { 'network-left': network, 'mounts-below': 'whole=yes\n' } })).toBeUndefined())
