import { expect, test } from 'vitest'
import { linkPresent } from '../../../src/tasks/general/link-present.ts'
import type { HostLiteral } from '../host-state.ts'
import { faultsOf, type Result, result } from './planning.ts'

const link = { path: '/etc/localtime', target: '../usr/share/zoneinfo/UTC' }
const made = ['link /etc/localtime -> ../usr/share/zoneinfo/UTC']

test.each<[what: string, params: Record<string, boolean>, host: HostLiteral, result: Result]>([
  ['a missing link is made', {}, {}, made],
  ['the link that is wanted is left alone', {}, { paths: { '/etc/localtime': { link: link.target } } }, []],
  [
    'another target is left alone',
    {},
    { paths: { '/etc/localtime': { link: '/usr/share/zoneinfo/UTC' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'unless it may be replaced',
    { replace: true },
    { paths: { '/etc/localtime': { link: '/usr/share/zoneinfo/UTC' } } },
    made,
  ],
  [
    'a file is never replaced',
    { replace: true },
    { paths: { '/etc/localtime': { file: '' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'nor is a directory',
    { replace: true },
    { paths: { '/etc/localtime': { dir: [] } } },
    { blocked: 'path-in-the-way' },
  ],
  ['a missing parent blocks', {}, { paths: { '/etc': 'absent' } }, { blocked: 'precondition-unmet' }],
  ['a read-only file system blocks', {}, { mounts: { '/etc': { readOnly: true } } }, { blocked: 'precondition-unmet' }],
  [
    'links above lead to the real place',
    {},
    { paths: { '/etc': { link: '/mnt/etc' }, '/mnt/etc': { dir: [] } } },
    ['link /mnt/etc/localtime -> ../usr/share/zoneinfo/UTC'],
  ],
])('%s', (_, params, host, expected) => {
  expect(result(linkPresent, { ...link, ...params }, host)).toEqual(expected)
})

test('no link is replaced that the path to it leads through', () => {
  const input = { path: '/srv/here/here', target: '/mnt', replace: true }
  expect(result(linkPresent, input, { paths: { '/srv/here': { link: '.' } } })).toEqual({ blocked: 'path-in-the-way' })
  const nested = { path: '/srv/way/here', target: '/mnt', replace: true }
  expect(
    result(linkPresent, nested, { paths: { '/srv/here': { link: '.' }, '/srv/way': { link: 'here/../srv/here' } } }),
  ).toEqual({ blocked: 'path-in-the-way' })
})

test('systemd is told of a link that enables a unit', () => {
  const wants = {
    path: '/etc/systemd/system/multi-user.target.wants/x.service',
    target: '/etc/systemd/system/x.service',
  }
  expect(result(linkPresent, wants, {})).toEqual([`link ${wants.path} -> ${wants.target}`, 'systemctl daemon-reload'])
})

test.each(['', 'a\0b', 'a'.repeat(4096)])('no link leads to %j', (target) => {
  expect(faultsOf(linkPresent as never, { ...link, target })).toEqual([expect.stringMatching(/cannot lead there/)])
})
