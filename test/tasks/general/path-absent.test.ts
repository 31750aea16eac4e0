import { expect, test } from 'vitest'
import { pathAbsent } from '../../../src/tasks/general/path-absent.ts'
import type { HostLiteral } from '../host-state.ts'
import { faultsOf, type Result, refusal, result } from './planning.ts'

const path = '/srv/old'
const mounts = (...points: string[]): NonNullable<HostLiteral['commands']> => [
  [['cut', '-d', ' ', '-f', '5', '/proc/self/mountinfo'], { stdout: ['/', '/proc', ...points].join('\n') }],
]
const full = { [path]: { dir: ['a', 'b'] } } as const

test.each<[what: string, params: { path?: string; recurse?: boolean }, host: HostLiteral, result: Result]>([
  ['what is not there is not removed', {}, {}, []],
  ['nor is anything in a directory that is not there', {}, { paths: { '/srv': 'absent' } }, []],
  ['a file goes', {}, { paths: { [path]: { file: 'x' } } }, ['remove /srv/old']],
  [
    'a link goes, and not what it leads to',
    { recurse: true },
    { paths: { [path]: { link: '/mnt' }, '/mnt': { dir: ['a'] } } },
    ['remove /srv/old'],
  ],
  ['a link to nothing goes', {}, { paths: { [path]: { link: '/gone' }, '/gone': 'absent' } }, ['remove /srv/old']],
  ['a socket goes', {}, { paths: { [path]: 'other' } }, ['remove /srv/old']],
  ['an empty directory goes', {}, { paths: { [path]: { dir: [] } } }, ['remove /srv/old']],
  ['a full one stays', {}, { paths: full }, { blocked: 'precondition-unmet' }],
  [
    'unless the step says so',
    { recurse: true },
    { paths: full, commands: mounts('/srv/older') },
    ['remove /srv/old and all in it'],
  ],
  [
    'a mount point stays',
    { recurse: true },
    { paths: full, mounts: { [path]: { mountPoint: path } } },
    { blocked: 'precondition-unmet' },
  ],
  [
    'so does what something is mounted below',
    { recurse: true },
    { paths: full, commands: mounts('/srv/old/a/b') },
    { blocked: 'precondition-unmet' },
  ],
  [
    'a tree stays where the mounts cannot be listed',
    { recurse: true },
    { paths: full },
    { blocked: 'precondition-unmet' },
  ],
  [
    'or not to the end',
    { recurse: true },
    { paths: full, commands: mounts('/x'.repeat(33_000)) },
    { blocked: 'precondition-unmet' },
  ],
  [
    'a read-only file system keeps all',
    {},
    { paths: { [path]: { file: '' } }, mounts: { '/srv': { readOnly: true } } },
    { blocked: 'precondition-unmet' },
  ],
  [
    'a top-level directory stays',
    { path: '/data' },
    { paths: { '/data': { dir: [] } } },
    { blocked: 'precondition-unmet' },
  ],
  ['a top-level file may go', { path: '/swapfile' }, { paths: { '/swapfile': { file: '' } } }, ['remove /swapfile']],
  [
    'no link opens a way to what is protected',
    { path: '/srv/m/kube1', recurse: true },
    { paths: { '/srv/m': { link: '/var/lib/machines' }, '/var/lib/machines/kube1': { dir: ['etc'] } } },
    { blocked: 'precondition-unmet' },
  ],
  [
    'nor to a top-level directory',
    { path: '/srv/m/etc' },
    { paths: { '/srv/m': { link: '/' }, '/etc': { dir: [] } } },
    { blocked: 'precondition-unmet' },
  ],
  [
    'links above lead to the real place',
    { path: '/srv/m/x' },
    { paths: { '/srv/m': { link: '/mnt' }, '/mnt/x': { file: '' } } },
    ['remove /mnt/x'],
  ],
])('%s', (_, params, host, expected) => {
  expect(result(pathAbsent, { path, ...params }, host)).toEqual(expected)
})

test('blanks in the names of mount points are read as the kernel writes them', () => {
  const host = { paths: { '/srv/a b': { dir: ['c'] } }, commands: mounts('/srv/a\\040b/c') } as const
  expect(refusal(pathAbsent, { path: '/srv/a b', recurse: true }, host)).toMatch(/^\/srv\/a b\/c is mounted below/)
})

test('systemd is told that a unit file is gone', () => {
  const path = '/etc/systemd/system/x.service.d'
  expect(
    result(pathAbsent, { path, recurse: true }, { paths: { [path]: { dir: ['a.conf'] } }, commands: mounts() }),
  ).toEqual([`remove ${path} and all in it`, 'systemctl daemon-reload'])
})

test.each([
  '/',
  '/etc',
  '/usr',
  '/var',
  '/home',
  '/home/ada',
  '/root',
  '/root/.ssh',
  '/boot',
  '/tmp',
  '/opt',
  '/opt/unbounded',
  '/opt/unbounded/agent/lib/aks-flex-node',
  '/usr/local/lib/aks-flex-node',
  '/etc/aks-flex-node',
  '/etc/systemd/system',
  '/etc/systemd/system/aks-flex-node-agent.service',
  '/etc/ssh',
  '/etc/passwd',
  '/var/lib',
  '/var/lib/machines',
  '/var/lib/machines/kube1',
  '/var/lib/machines/kube1/etc/hostname',
  '/var/lib/drover/armed',
  '/proc/1',
])('%s is refused before any host is touched', (forbidden) => {
  expect(faultsOf(pathAbsent as never, { path: forbidden, recurse: true })).toHaveLength(1)
})

test.each([
  '/etc/motd',
  '/etc/systemd/system/x.service',
  '/var/lib/old',
  '/opt/old',
  '/home/ada/old',
  '/var/lib/machines2',
])('%s may go', (allowed) => {
  expect(faultsOf(pathAbsent as never, { path: allowed })).toEqual([])
})
