import { describe, expect, test } from 'vitest'
import type { Severity } from '../../../src/tasks/task.ts'
import { aHost, runningHost } from '../deployed.ts'
import type { HostLiteral } from '../host-state.ts'
import { check, findingsOf, freshHost } from './checked.ts'

const noPackages = { 'systemd-nspawn': null, curl: null, nft: null, machinectl: null }
const offline = aHost({ offline: true })
const acl = { family: 'acl', variantId: 'azurecontainerlinux' } as const
const config = (text: object) => ({ '/etc/aks-flex-node/config.json': { file: JSON.stringify(text) } })
const localDns = (mode: string) => config({ networking: { localDNS: { mode } } })

const rows: [string, Severity, RegExp, HostLiteral, ReturnType<typeof aHost>?][] = [
  ['is-privileged-user', 'ok', /is root/, {}],
  ['is-privileged-user', 'error', /uid 1000/, { os: { uid: 1000 } }],
  ['existing-deployment', 'ok', /no deployment/, {}],
  [
    'existing-deployment',
    'error',
    /\/var\/lib\/machines\/kube2/,
    { paths: { '/var/lib/machines/kube2': { dir: true } } },
  ],
  ['existing-deployment', 'error', /kube1\.nspawn/, { paths: { '/etc/systemd/nspawn/kube1.nspawn': { file: '' } } }],
  [
    'existing-deployment',
    'warning',
    /only root can look at .*\/var\/lib\/machines\/kube1/,
    { os: { uid: 1000 }, paths: { '/var/lib/machines': { dir: true, mode: 0o700 } } },
  ],
  ['host-packages', 'ok', /present/, {}],
  ['host-packages', 'ok', /present/, { programs: { curl: null }, packages: { curl: '8.1' } }],
  [
    'host-packages',
    'warning',
    /^required host packages are missing and may be installed by bootstrap: systemd-container, curl, nftables$/,
    { programs: noPackages },
  ],
  [
    'host-packages',
    'error',
    /cannot be installed automatically when OfflineArtifacts is configured: systemd-container, curl, nftables$/,
    { programs: noPackages },
    offline,
  ],
  ['host-packages', 'error', /no package manager: curl$/, { programs: { curl: null }, packageManager: null }],
  ['host-packages', 'error', /missing from the image.*: nftables$/, { programs: { nft: null }, os: acl }],
  ['host-os-configuration', 'ok', /can be configured/, {}],
  ['host-os-configuration', 'error', /\/etc\/sysctl\.d is missing/, { paths: { '/etc/sysctl.d': 'absent' } }],
  ['host-os-configuration', 'error', /not a directory/, { paths: { '/etc/sysctl.d': { file: '' } } }],
  [
    'host-os-configuration',
    'error',
    /not writable: \/etc /,
    { mounts: { '/etc/systemd/system': { readOnly: true, mountPoint: '/etc' } } },
  ],
  ['host-os-configuration', 'ok', /can be configured/, { mounts: { '/usr/local/bin': { readOnly: true } } }],
  [
    'host-os-configuration',
    'error',
    /agent\/bin is not writable/,
    { mounts: { '/usr/local/bin': { readOnly: true }, '/opt/unbounded/agent/bin': { readOnly: true } } },
  ],
  ['install-directory-noexec', 'ok', /can run/, { mounts: { '/opt/unbounded/agent/bin': { noexec: true } } }],
  [
    'install-directory-noexec',
    'error',
    /noexec.*\/opt/,
    {
      mounts: {
        '/usr/local/bin': { readOnly: true },
        '/opt/unbounded/agent/bin': { noexec: true, mountPoint: '/opt' },
      },
    },
  ],
  [
    'install-directory-noexec',
    'error',
    /noexec/,
    { paths: { '/opt/unbounded/agent': { dir: true } }, mounts: { '/opt/unbounded/agent/bin': { noexec: true } } },
  ],
  [
    'install-directory-noexec',
    'ok',
    /can run/,
    {
      paths: { '/opt/unbounded/agent': { link: '/usr/local' } },
      mounts: { '/opt/unbounded/agent/bin': { noexec: true } },
    },
  ],
  ['nspawn-runtime', 'ok', /can be run/, {}],
  ['nspawn-runtime', 'warning', /machinectl, systemd-nspawn missing/, { programs: noPackages }],
  ['nspawn-runtime', 'error', /cannot install/, { programs: noPackages }, offline],
  ['nspawn-runtime', 'error', /cannot install/, { programs: noPackages, os: acl }],
  ['nspawn-runtime', 'warning', /no \/run\/systemd\/system/, { os: { isSystemd: false } }],
  ['docker-active', 'ok', /not active/, {}],
  ['docker-active', 'warning', /bootstrap will disable it/, { units: { 'docker.service': { ActiveState: 'active' } } }],
  ['docker-active', 'warning', /unknown: no bus/, { noSystemd: 'no bus' }],
  ['kubelet-active', 'warning', /activating/, { units: { 'kubelet.service': { ActiveState: 'activating' } } }],
  ['containerd-active', 'warning', /active/, { units: { 'containerd.service': { ActiveState: 'active' } } }],
  [
    'containerd-active',
    'ok',
    /container variant/,
    { units: { 'containerd.service': { ActiveState: 'active' } } },
    aHost({ variant: 'container' }),
  ],
  ['swap-active', 'ok', /no swap/, {}],
  ['swap-active', 'warning', /\/dev\/dm-1/, { probes: { swap: 'area=/dev/dm-1\nswap=active\n' } }],
  ['swap-active', 'warning', /unknown/, { probes: { swap: '' } }],
  ['disk-space', 'ok', /100\.0 GiB/, {}],
  ['disk-space', 'ok', /8\.0 GiB/, { mounts: { '/var/lib': { freeBytes: 8 * 2 ** 30 } } }],
  ['disk-space', 'error', /7\.9 GiB free/, { mounts: { '/var/lib': { freeBytes: 8 * 2 ** 30 - 1 } } }],
  ['disk-space', 'error', /unknown/, { mounts: { '/var/lib': { freeBytes: Number.NaN } } }],
  ['cgroups', 'ok', /mounted/, {}],
  ['cgroups', 'error', /missing/, { paths: { '/sys/fs/cgroup': 'absent' } }],
  ['localdns-conntrack', 'ok', /takes/, {}],
  ['localdns-conntrack', 'ok', /off/, { paths: localDns('Disabled'), probes: { conntrack: 'nft=missing\n' } }],
  ['localdns-conntrack', 'warning', /nft is missing/, { probes: { conntrack: 'nft=missing\n' } }],
  ['localdns-conntrack', 'error', /nft is missing/, { probes: { conntrack: 'nft=missing\n' } }, offline],
  [
    'localdns-conntrack',
    'error',
    /Could not process/,
    {
      paths: localDns('Required'),
      probes: { conntrack: 'nft=present\nnotrack=failed\nwhy=Error: Could not process rule\n' },
    },
  ],
  [
    'localdns-conntrack',
    'warning',
    /Could not process/,
    { probes: { conntrack: 'nft=present\nnotrack=failed\nwhy=Error: Could not process rule\n' } },
  ],
  ['api-server-reachable', 'ok', /^not-run: /, {}],
  [
    'api-server-reachable',
    'warning',
    /^not-run: .* kubeconfig/,
    { probes: { 'api-server': 'config=present\naddress=in-kubeconfig\n' } },
  ],
  [
    'api-server-reachable',
    'warning',
    /^not-run: curl/,
    { probes: { 'api-server': 'config=present\naddress=set\ncurl=missing\n' } },
  ],
  [
    'api-server-reachable',
    'error',
    /names no API server/,
    { probes: { 'api-server': 'config=present\naddress=unset\n' } },
  ],
  ['api-server-reachable', 'error', /not valid/, { probes: { 'api-server': 'config=present\naddress=invalid\n' } }],
  ['api-server-reachable', 'error', /cannot be read/, { probes: { 'api-server': 'config=unreadable\n' } }],
  [
    'api-server-reachable',
    'ok',
    /answered 401/,
    { probes: { 'api-server': 'config=present\naddress=set\ncurl=0\nhttp=401\n' } },
  ],
  [
    'api-server-reachable',
    'error',
    /answered 503/,
    { probes: { 'api-server': 'config=present\naddress=set\ncurl=0\nhttp=503\n' } },
  ],
  [
    'api-server-reachable',
    'error',
    /within 10 seconds/,
    { probes: { 'api-server': 'config=present\naddress=set\ncurl=28\nhttp=000\n' } },
  ],
  ['kubelet-bind-address', 'ok', /free/, {}],
  ['kubelet-bind-address', 'error', /in use by kubelet/, { ports: { 10250: 'kubelet' } }],
  ['containerd-metrics-bind-address', 'error', /cannot be seen/, { ports: { 10257: '' } }],
  ['nspawn-machine-provisioning', 'ok', /can be provisioned/, {}],
  ['nspawn-machine-provisioning', 'error', /read-only/, { mounts: { '/var/lib/machines': { readOnly: true } } }],
  ['nspawn-machine-provisioning', 'error', /not a directory/, { paths: { '/etc/systemd/nspawn': { file: '' } } }],
  [
    'nspawn-machine-provisioning',
    'warning',
    /only root/,
    { os: { uid: 1000 }, paths: { '/var/lib/machines': { dir: true, mode: 0o700 } } },
  ],
  ['config-valid', 'error', /not valid JSON/, { paths: { '/etc/aks-flex-node/config.json': { file: '{' } } }],
]

test.each(rows)('%s: %s %s', (name, severity, message, literal, host) => {
  const found = findingsOf(freshHost(literal), name, host)
  expect(found).toEqual([
    expect.objectContaining({ severity, message: expect.stringMatching(message), ignored: false }),
  ])
  if (severity !== 'ok') expect(found[0]?.remedy).toMatch(/\S/)
})

test('one check may find several things', () => {
  const both = { '/etc/sysctl.d': 'absent', '/etc/systemd/system': 'absent' } as const
  expect(findingsOf(freshHost({ paths: both }), 'host-os-configuration')).toHaveLength(2)
})

describe('W7: a deployed host', () => {
  const deployed = freshHost({
    ...runningHost({
      units: { 'containerd.service': { ActiveState: 'active' }, 'machines.target': { UnitFileState: 'disabled' } },
    }),
    ports: { 10250: 'kubelet', 10257: 'containerd' },
    mounts: { '/usr/local/bin': { noexec: true } },
  })
  test.each([
    'existing-deployment',
    'kubelet-bind-address',
    'containerd-metrics-bind-address',
    'containerd-active',
    'install-directory-noexec',
  ])('%s is a warning', (name) => {
    const found = findingsOf(deployed, name)
    expect(found).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('a deployed host') }),
    ])
  })
  test('passes, and fails only with fail_on_warnings', () => {
    expect(check(deployed).status).toBe('planned')
    expect(check(deployed, { fail_on_warnings: true }).status).toBe('failed')
  })
})
