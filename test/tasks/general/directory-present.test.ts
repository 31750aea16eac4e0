import { expect, test } from 'vitest'
import { directoryPresent } from '../../../src/tasks/general/directory-present.ts'
import type { HostLiteral } from '../host-state.ts'
import { type Result, refusal, result } from './planning.ts'

const path = '/srv/a/b'

test.each<[what: string, params: Record<string, string | boolean>, host: HostLiteral, result: Result]>([
  ['a missing directory is made', {}, {}, ['create directory /srv/a/b (0755 root:root)']],
  ['one that is there is left alone', {}, { paths: { [path]: { dir: true } } }, []],
  ['a wrong mode is set', { mode: '1777' }, { paths: { [path]: { dir: true } } }, ['set /srv/a/b to 1777 root:root']],
  [
    'an inherited setgid bit is a wrong mode',
    {},
    { paths: { [path]: { dir: true, mode: 0o2755 } } },
    ['set /srv/a/b to 0755 root:root'],
  ],
  [
    'a wrong owner is set',
    { owner: 'web:web' },
    { paths: { [path]: { dir: true } } },
    ['set /srv/a/b to 0755 web:web'],
  ],
  ['a file is in the way', {}, { paths: { [path]: { file: '' } } }, { blocked: 'path-in-the-way' }],
  [
    'so is a link, even to a directory',
    {},
    { paths: { [path]: { link: '/mnt/b' }, '/mnt/b': { dir: true } } },
    { blocked: 'path-in-the-way' },
  ],
  ['a missing parent blocks', {}, { paths: { '/srv/a': 'absent' } }, { blocked: 'precondition-unmet' }],
  [
    'unless parents are asked for',
    { parents: true, mode: '0700' },
    { paths: { '/srv': 'absent' } },
    [
      'create directory /srv (0755 root:root)',
      'create directory /srv/a (0755 root:root)',
      'create directory /srv/a/b (0700 root:root)',
    ],
  ],
  [
    'parents are made where links lead',
    { parents: true },
    { paths: { '/srv': { link: '/mnt/srv' }, '/mnt/srv': { dir: [] } } },
    ['create directory /mnt/srv/a (0755 root:root)', 'create directory /mnt/srv/a/b (0755 root:root)'],
  ],
  [
    'a file among the parents is in the way',
    { parents: true },
    { paths: { '/srv/a': { file: '' } } },
    { blocked: 'path-in-the-way' },
  ],
  [
    'a link to nothing among the parents, too',
    { parents: true },
    { paths: { '/srv/a': { link: '/gone' }, '/gone': 'absent' } },
    { blocked: 'path-in-the-way' },
  ],
  ['a read-only file system blocks', {}, { mounts: { [path]: { readOnly: true } } }, { blocked: 'precondition-unmet' }],
  [
    'a mount point may be given its mode',
    { mode: '0700' },
    { paths: { [path]: { dir: true } }, mounts: { [path]: { mountPoint: path } } },
    ['set /srv/a/b to 0700 root:root'],
  ],
])('%s', (_, params, host, expected) => {
  expect(result(directoryPresent, { path, ...params }, host)).toEqual(expected)
})

test('the place a link leads to is named as the way out', () => {
  expect(
    refusal(directoryPresent, { path }, { paths: { [path]: { link: '/mnt/b' }, '/mnt/b': { dir: true } } }),
  ).toMatch(/is a link to \/mnt\/b, and a directory is wanted there.*name that place \(\/mnt\/b\)/)
})
