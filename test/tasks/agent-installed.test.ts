import { expect, test } from 'vitest'
import { viewOf } from '../../src/facts/view.ts'
import { LEGACY, layoutEntry, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentInstalled } from '../../src/tasks/agent-installed.ts'
import type { Finding } from '../../src/tasks/task.ts'
import { recoveryScriptFile } from '../../src/tasks/units/recovery.ts'
import { aHost, laidOut } from './deployed.ts'
import { planOn, type Result, resultOf, stateFor } from './general/planning.ts'
import { type HostLiteral, hostState } from './host-state.ts'
import { fine, installed, staged, up } from './install/hosts.ts'
import { release } from './switch/release.ts'

const given = (ignored: string | string[] = []) => ({
  release: release('v0.4.0', 'new'),
  ignore_preflight_errors: ignored,
})
const planned = (literal: HostLiteral, ignored: string | string[] = []) =>
  planOn(agentInstalled, given(ignored), stateFor(agentInstalled, given(ignored), literal))
const result = (literal: HostLiteral): Result => resultOf(planned(literal))

const files = (root: string) => [
  expect.stringMatching(new RegExp(`^write ${root}/lib/aks-flex-node/aks-flex-node-recovery\\.sh \\(0750 root:root`)),
  expect.stringMatching(/^write \/etc\/systemd\/system\/aks-flex-node-agent-recovery\.service \(0644 root:root/),
  `copy ${root}/lib/aks-flex-node/aks-flex-node-current to ${root}/bin/unbounded-agent-nspawn-lifecycle (0755 root:root, 1000 bytes)`,
  expect.stringMatching(/^write \/etc\/systemd\/system\/aks-flex-node-agent\.service \(0644 root:root/),
  'systemctl daemon-reload',
]

test.each([LEGACY, ROOT] as const)('what the unit relies on comes before it, under %s', (root) => {
  expect(result(staged({}, root))).toEqual(
    files(root).map((line) => (typeof line === 'string' ? line.replace('1000', '3') : line)),
  )
})

const recovery = `${LEGACY}/lib/aks-flex-node/aks-flex-node-recovery.sh`
const unit = '/etc/systemd/system/aks-flex-node-agent.service'

const rows: readonly [what: string, literal: HostLiteral, result: unknown][] = [
  ['installed and up', up(), []],
  ['installed and never started', installed(), []],
  ['its units rewritten by the agent', up({ paths: { [recovery]: { file: '#!/bin/sh\n# its own\n' } } }), []],
  [
    'its recovery gone',
    up({ paths: { [recovery]: 'absent' } }),
    [expect.stringContaining(`write ${recovery}`), 'systemctl daemon-reload'],
  ],
  ['another release', laidOut('LEGACY'), { blocked: 'already-installed' }],
  [
    'a unit that runs something else',
    up({ paths: { [unit]: { file: '[Service]\nExecStart=/opt/mine agent\n' } } }),
    { blocked: 'already-installed' },
  ],
  ['no binary ready', {}, { blocked: 'precondition-unmet' }],
  [
    'another binary ready',
    staged({ paths: { [layoutEntry(LEGACY, 'blue')]: { file: 'old' } } }),
    { blocked: 'precondition-unmet' },
  ],
  ['a masked unit', staged({ paths: { [unit]: { link: '/dev/null' } } }), { blocked: 'path-in-the-way' }],
  ['a link for its recovery', staged({ paths: { [recovery]: { link: '/srv/x' } } }), { blocked: 'path-in-the-way' }],
  [
    'the lock held',
    staged({ probes: { 'activation-lock': 'lock=held\nholder=7 aks-flex-node -\n' } }),
    { blocked: 'activation-locked' },
  ],
  [
    'a first boot under way',
    staged({ units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } }),
    { blocked: 'precondition-unmet' },
  ],
  ['a preflight that is silent', staged({ probes: { 'agent-preflight': '' } }), { blocked: 'preflight-could-not-run' }],
  [
    'a preflight that gives no report',
    staged({ probes: { 'agent-preflight': '[preflight] Running' } }),
    { blocked: 'preflight-could-not-run' },
  ],
  [
    'half a report',
    staged({ probes: { 'agent-preflight': fine.slice(0, 40) } }),
    { blocked: 'preflight-could-not-run' },
  ],
]
test.each(rows)('%s', (_, literal, expected) => {
  expect(result(literal)).toEqual(expected)
})

const report = (
  ...checks: readonly [name: string, severity: string, message: string][]
): NonNullable<HostLiteral['probes']> => ({
  'agent-preflight': JSON.stringify({
    status: 'failed',
    checks: checks.map(([name, severity, message]) => ({
      name,
      target: 't',
      severity,
      message,
      ignored: false,
      since: 'v9',
    })),
    summary: {},
  }),
})
const findingsOf = (plan: ReturnType<typeof planned>): readonly Finding[] =>
  'findings' in plan ? (plan.findings ?? []) : []

test('an error of the agent’s own preflight stops the install before a unit is written, and all that it found is shown', () => {
  const plan = planned(
    staged({ probes: report(['goal-state', 'error', 'no such version'], ['cgroups', 'ok', 'fine']) }),
  )
  expect(plan).toMatchObject({
    status: 'blocked',
    error: { code: 'preflight-failed', message: expect.stringContaining('goal-state') },
  })
  expect(findingsOf(plan)).toContainEqual(
    expect.objectContaining({
      check: 'goal-state',
      severity: 'error',
      message: expect.stringContaining('no such version'),
    }),
  )
})

test.each([['goal-state'], ['Goal-State, x'], ['all']])('it passes where it is ignored, and says so: %s', (ignored) => {
  const plan = planned(staged({ probes: report(['goal-state', 'error', 'no such version']) }), ignored)
  expect(plan.status).toBe('planned')
  expect(findingsOf(plan)).toContainEqual(
    expect.objectContaining({ check: 'goal-state', severity: 'warning', ignored: true }),
  )
})

test('where drover’s own probe says otherwise, both are shown, and the agent’s word counts', () => {
  const probes = { ...report(['disk-space', 'error', '2 GiB free']), swap: 'swap=none\n' }
  const plan = planned(staged({ probes, mounts: { '/var/lib': { freeBytes: 2 ** 40 } } }))
  expect(plan).toMatchObject({ error: { code: 'preflight-failed' } })
  const both = findingsOf(plan).filter(({ check }) => check === 'disk-space')
  expect(both.map(({ severity, message }) => [severity, message.replace(/:.*/, '')])).toEqual([
    ['error', "the agent's own preflight"],
    ['ok', "drover's own probe says otherwise"],
  ])
})

test('where the two agree, drover’s own is not said twice', () => {
  const plan = planned(
    staged({ probes: { ...report(['disk-space', 'ok', 'plenty']) }, mounts: { '/var/lib': { freeBytes: 2 ** 40 } } }),
  )
  expect(findingsOf(plan).map(({ check }) => check)).toEqual(['disk-space'])
})

const existing = report(['existing-deployment', 'error', 'the host holds a deployment'])

test('what a cut install of drover’s own left is no deployment that stands in the way', () => {
  const left = { [recovery]: { file: recoveryScriptFile(LEGACY), mode: 0o750 } }
  expect(planned(staged({ probes: existing, paths: left }))).toMatchObject({ status: 'planned' })
})

test.each([
  ['a recovery script that drover did not write', { [recovery]: { file: '#!/bin/sh\n' } }],
  ['a worker', { '/var/lib/machines/kube1': { dir: true } }],
  ['nothing that drover sees', {}],
])('an existing deployment is one, with %s', (_, paths) => {
  expect(planned(staged({ probes: existing, paths: paths as HostLiteral['paths'] }))).toMatchObject({
    error: { code: 'preflight-failed' },
  })
})

test('the container variant is not installed', () => {
  const host = aHost({ variant: 'container' })
  const state = hostState(staged(), agentInstalled.facts(given(), host))
  expect(agentInstalled.plan(viewOf(state), given(), host)).toMatchObject({ error: { code: 'precondition-unmet' } })
})

test('with Arc the unit also waits for its identity service', () => {
  const config = { '/etc/aks-flex-node/config.json': { file: '{"azure":{"arc":{"enabled":true}}}', mode: 0o600 } }
  const plan = planned(staged({ paths: config }))
  const write =
    'changes' in plan ? plan.changes.find((change) => change.kind === 'write' && change.path === unit) : undefined
  expect(write).toMatchObject({
    content: expect.stringContaining(
      'Wants=network-online.target systemd-udev-settle.service himdsd.service machines.target',
    ),
  })
})

test.each([
  ['not-roots=/opt/unbounded\n', /\/opt\/unbounded is not root’s.*chown root:root \/opt\/unbounded/s],
  ['writable=/usr/local\n', /\/usr\/local can be written by others than root.*chmod go-w \/usr\/local/],
  ['', /it cannot be run/],
])('a binary that was not run is said to be somebody’s, and by what: %j', (stdout, says) => {
  const params = given()
  const state = stateFor(agentInstalled, params, staged())
  const probes = new Map(
    [...state.probes].map(([key, answer]) => [key, key.includes('agent-preflight') ? { code: 126, stdout } : answer]),
  )
  const plan = planOn(agentInstalled, params, { ...state, probes })
  expect(plan).toMatchObject({ status: 'blocked', error: { code: 'preflight-could-not-run' } })
  expect('error' in plan ? `${plan.error.message} ${plan.error.remedy}` : '').toMatch(says)
})
