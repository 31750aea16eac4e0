import { describe, expect, test } from 'vitest'
import { LEGACY, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentRolledBack } from '../../src/tasks/agent-rolled-back.ts'
import { laidOut, linksOn } from './deployed.ts'
import { paramsOf, planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { digest } from './switch/release.ts'

const agent = 'aks-flex-node-agent.service'
const entry = (root: string, name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
const back = (root: string): string[] => [
  'hold the lock /run/aks-flex-node-agent-upgrade.lock',
  `wait until ${entry(root, 'blue')} version succeeds`,
  'arm the rollback of the rollback to v0.3.0: it fires after 300 s, and at a boot before that',
  `link ${entry(root, 'current')} -> ${entry(root, 'blue')}`,
  `copy ${entry(root, 'blue')} to /var/lib/machines/kube1/usr/local/bin/aks-flex-node (0755 root:root, 3 bytes)`,
  `systemctl restart ${agent}`,
  `wait until ${agent} runs ${entry(root, 'blue')} for 45 s`,
  'wait until systemd-nspawn@kube1.service is seen to be untouched',
]

describe('back to last-good', () => {
  test.each<[state: 'LEGACY' | 'LINKED' | 'MOVED', root: string]>([
    ['LEGACY', LEGACY],
    ['LINKED', LEGACY],
    ['MOVED', ROOT],
  ])('on a host that is %s only current moves: both links are then on the slot that ran before (U1)', (state, root) => {
    expect(result(agentRolledBack, { host_root_since: 'v0.3.0' }, linksOn(state, 'green', 'blue'))).toEqual(back(root))
  })

  test('where both lead to one binary there is nothing to go back to, and that is said', () => {
    const params = paramsOf(agentRolledBack, {})
    const planned = planOn(
      agentRolledBack,
      params,
      stateFor(agentRolledBack, params, linksOn('MOVED', 'green', 'green')),
    )
    expect(planned).toMatchObject({ status: 'planned', changes: [], findings: [{ check: 'already-last-good' }] })
  })
})

describe('refused', () => {
  const here = (changes: HostLiteral = {}): HostLiteral => linksOn('MOVED', 'green', 'blue', changes)
  const lastGood = entry(ROOT, 'last-good')
  const says = (version: string): HostLiteral => here({ versions: { [lastGood]: version } })
  test.each<[what: string, params: { host_root_since?: string }, host: HostLiteral, code: string, text: RegExp]>([
    ['nobody says which releases know the host root', {}, here(), 'downgrade-refused', /hostRootSince/],
    [
      'last-good does not know it',
      { host_root_since: 'v0.3.0' },
      says('v0.2.0'),
      'downgrade-refused',
      /v0\.2\.0 is older/,
    ],
    ['last-good says no version', { host_root_since: 'v0.3.0' }, says(''), 'downgrade-refused', /without a version/],
    [
      'there is no last-good',
      { host_root_since: 'v0.3.0' },
      here({ paths: { [lastGood]: 'absent' } }),
      'precondition-unmet',
      /leads to no binary/,
    ],
    ['there are no slots', {}, laidOut('LEGACY-PLAIN'), 'precondition-unmet', /before the two slots/],
    [
      'the lock is held',
      { host_root_since: 'v0.3.0' },
      here({ probes: { 'activation-lock': 'lock=held\nholder=7 a -\n' } }),
      'activation-locked',
      /7/,
    ],
    ['no agent', {}, {}, 'agent-missing', /install/],
  ])('where %s', (_, params, host, code, text) => {
    expect(result(agentRolledBack, params, host)).toEqual({ blocked: code })
    expect(refusal(agentRolledBack, params, host)).toMatch(text)
  })

  test('not what the host itself has seen to know the root', () => {
    const host = here({ paths: { '/etc/aks-flex-node/host-root-agents': { file: `${digest('old')}\n` } } })
    expect(result(agentRolledBack, {}, host)).toHaveLength(back(ROOT).length)
  })
})

test('what a dead run went back to and proved is confirmed, and what it upgraded to is not (U4)', () => {
  const text = (candidate: string) => `run-1 ann 2026-11-30T10:00:00Z 1190 ${digest(candidate)} rollback to v0.3.0`
  const self = (candidate: string): NonNullable<HostLiteral['self']> => ({
    rollback: { phase: 'armed', text: text(candidate), isProved: true },
  })
  const unproved: NonNullable<HostLiteral['self']> = { rollback: { phase: 'armed', text: text('new') } }
  expect(result(agentRolledBack, {}, linksOn('MOVED', 'green', 'green', { self: unproved }))).toEqual({
    blocked: 'rollback-armed',
  })
  expect(result(agentRolledBack, {}, linksOn('MOVED', 'green', 'green', { self: self('new') }))).toEqual([
    'disarm the rollback of run run-1',
  ])
  expect(result(agentRolledBack, {}, linksOn('MOVED', 'green', 'blue', { self: self('new') }))).toEqual({
    blocked: 'rollback-armed',
  })
})
