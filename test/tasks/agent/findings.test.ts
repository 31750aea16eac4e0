import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { deploymentFindings, findingsFacts } from '../../../src/tasks/agent/findings.ts'
import { aHost, runningHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

const found = (literal: HostLiteral) => deploymentFindings(viewOf(hostState(literal, findingsFacts())), aHost())
const names = (literal: HostLiteral) => found(literal).map((finding) => finding.check)
const signal = (fields: object, ageS: number): HostLiteral => ({
  paths: {
    '/etc/aks-flex-node/agent-upgrade-signal.json': { file: JSON.stringify(fields), modifiedS: 1_000_000 - ageS },
  },
})
const firstBoot = { '/etc/aks-flex-node/first-boot': { dir: true } } as const

test.each<[string, HostLiteral, string[]]>([
  ['a bare host', {}, []],
  ['a running host', runningHost(), []],
  ['first-boot files before the agent is installed', { paths: firstBoot }, []],
  ['first-boot files afterwards', runningHost({ paths: firstBoot }), ['first-boot-secrets-left']],
  [
    'first-boot files while bootstrap still runs',
    runningHost({ paths: firstBoot, units: { 'aks-flex-node-bootstrap.service': { ActiveState: 'activating' } } }),
    [],
  ],
  ['denials', { probes: { 'selinux-denials': 'source=journal\ndenials=2\nreset_failed=0\n' } }, ['selinux-denials']],
  [
    'denials of reset-failed alone (#385)',
    { probes: { 'selinux-denials': 'source=journal\ndenials=0\nreset_failed=7\n' } },
    [],
  ],
  [
    'a log that was not read to its end',
    { probes: { 'selinux-denials': 'source=audit\nincomplete=1\ndenials=0\n' } },
    ['selinux-denials'],
  ],
  ['no log to read', { probes: { 'selinux-denials': 'source=unavailable\n' } }, ['selinux-denials']],
  ['denials where SELinux is off', { os: { selinux: 'disabled' }, probes: { 'selinux-denials': 'denials=2\n' } }, []],
  ['a young signal', signal({ operationName: 'up' }, 120), []],
  ['a stale signal', signal({ operationName: 'up' }, 1800), ['upgrade-signal-stale']],
  [
    'a damaged stale signal',
    { paths: { '/etc/aks-flex-node/agent-upgrade-signal.json': { file: '{', modifiedS: 0 } } },
    ['upgrade-signal-stale'],
  ],
  ['recovery required', signal({ recoveryRequired: true }, 120), ['recovery-required']],
  ['both', signal({ recoveryRequired: true }, 1800), ['upgrade-signal-stale', 'recovery-required']],
  ['a signal nobody may read', { ...signal({}, 1800), os: { uid: 1000 } }, []],
  [
    'the inventory disagrees',
    { paths: { '/etc/aks-flex-node/config.json': { file: '{"bootstrap":{"offlineArtifacts":{"source":"/x"}}}' } } },
    ['offline-disagreement'],
  ],
])('%s', (_, literal, checks) => expect(names(literal)).toEqual(checks))

test('all are warnings with a remedy, and the age and the operation are named', () => {
  const all = found(signal({ operationName: 'up-7', recoveryRequired: true }, 1800))
  for (const finding of all)
    expect(finding).toMatchObject({ severity: 'warning', ignored: false, remedy: expect.stringMatching(/\S/) })
  expect(all[0]?.message).toBe('the verdict on the upgrade up-7 has been pending for 30 minutes')
})
