import { describe, expect, test } from 'vitest'
import { preflightChecked } from '../../../src/tasks/preflight-checked.ts'
import { aHost, runningHost } from '../deployed.ts'
import { check, freshHost } from './checked.ts'

/** domain.md 4.2 and rule W7. */
const probes = [
  'is-privileged-user',
  'existing-deployment',
  'host-packages',
  'host-os-configuration',
  'install-directory-noexec',
  'nspawn-runtime',
  'docker-active',
  'containerd-active',
  'kubelet-active',
  'swap-active',
  'disk-space',
  'cgroups',
  'localdns-conntrack',
  'kubelet-bind-address',
  'containerd-metrics-bind-address',
  'nspawn-machine-provisioning',
  'machines-target',
]
const agentsOwn = [
  'goal-state',
  'oci-image-reachable',
  'kubernetes-artifacts',
  'cri-artifacts',
  'cni-artifacts',
  'npd-artifact',
]

test('a fresh host on which all is well passes, with a finding for every check of the agent', () => {
  const result = check(freshHost())
  expect(result).toMatchObject({ status: 'planned', changes: [] })
  const found = result.findings ?? []
  expect(new Set(found.map((finding) => finding.check))).toEqual(
    new Set([...probes, ...agentsOwn, 'api-server-reachable']),
  )
  for (const finding of found) {
    expect(finding.severity).toBe('ok')
    expect(finding.message.startsWith('not-run: ')).toBe([...agentsOwn, 'api-server-reachable'].includes(finding.check))
  }
})

/** PR #437's reproducer: a fresh Rocky 9 without systemd-container. */
const bare = freshHost({
  units: { 'machines.target': { LoadState: 'not-found', UnitFileState: '' } },
  programs: { 'systemd-nspawn': null, machinectl: null, curl: null, nft: null },
  paths: { '/etc/sysctl.d': 'absent' },
  probes: { 'api-server': 'config=present\naddress=set\ncurl=6\nhttp=000\n', conntrack: 'nft=missing\n' },
})
const environment = { ignore_preflight_errors: 'api-server-reachable, Host-OS-Configuration' }

describe('the reproducer', () => {
  test('online: warnings alone', () => {
    const result = check(bare, environment)
    expect(result.status).toBe('planned')
    expect(result.findings?.find(({ check: name }) => name === 'host-os-configuration')).toMatchObject({
      severity: 'warning',
      ignored: true,
    })
    expect(result.findings?.find(({ check: name }) => name === 'machines-target')).toMatchObject({
      severity: 'warning',
      ignored: false,
    })
  })
  test('offline: machines-target among the errors', () => {
    const result = check(bare, environment, aHost({ offline: true }))
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'preflight-failed', message: expect.stringContaining('machines-target') },
    })
  })
  test('with fail_on_warnings an ignored error still fails', () => {
    expect(
      check(freshHost({ paths: { '/etc/sysctl.d': 'absent' } }), {
        ignore_preflight_errors: ['all'],
        fail_on_warnings: true,
      }),
    ).toMatchObject({
      status: 'failed',
      error: { message: 'preflight found 1 warning: host-os-configuration' },
    })
  })
})

test('the failure names every failing check once and the remedy of the first', () => {
  const both = { '/etc/sysctl.d': 'absent', '/etc/systemd/system': 'absent', '/sys/fs/cgroup': 'absent' } as const
  expect(check(freshHost({ paths: both }))).toMatchObject({
    status: 'failed',
    error: {
      message: 'preflight found 3 errors: host-os-configuration, cgroups',
      remedy: 'Make the directory /etc/sysctl.d.',
    },
  })
})

test('what is skipped is neither asked nor judged, and is shown', () => {
  const params = preflightChecked.params.parse({ skip: 'api-server-reachable' })
  expect(preflightChecked.facts(params, aHost())).not.toContainEqual({ kind: 'probe', name: 'api-server' })
  const result = check(bare, { skip: ['api-server-reachable'] })
  expect(result.findings).toContainEqual(
    expect.objectContaining({
      check: 'api-server-reachable',
      severity: 'ok',
      message: expect.stringMatching(/^not-run: /),
    }),
  )
})

test('a misspelt skip is refused, an unknown name to ignore is not (O-5)', () => {
  expect(preflightChecked.params.safeParse({ skip: 'disk-spce' }).success).toBe(false)
  expect(preflightChecked.params.safeParse({ ignore_preflight_errors: 'a-new-check' }).success).toBe(true)
  expect(preflightChecked.params.safeParse({ ignore: 'x' }).success).toBe(false)
})

test.each([
  ['fresh, as root', freshHost()],
  ['fresh, as another user', freshHost({ os: { uid: 1000 } })],
  ['deployed, as root', freshHost(runningHost())],
  ['deployed, as another user', freshHost(runningHost({ os: { uid: 1000 } }))],
  ['without systemd', freshHost({ noSystemd: 'no bus', os: { isSystemd: false } })],
])('every check can be made on a host that is %s', (_, literal) => {
  expect(check(literal).findings?.map((finding) => finding.check)).toEqual(expect.arrayContaining(probes))
})

test('no finding and no error says anything of config.json', () => {
  const secret = 'abcdef.0123456789abcdef'
  const config = { '/etc/aks-flex-node/config.json': { file: `{"azure":{"bootstrapToken":{"token":"${secret}"}},` } }
  const result = check(freshHost({ paths: config }))
  expect(result.status).toBe('failed')
  expect(JSON.stringify(result)).not.toContain(secret)
})
