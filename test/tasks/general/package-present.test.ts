import { expect, test } from 'vitest'
import { packagePresent } from '../../../src/tasks/general/package-present.ts'
import type { HostLiteral } from '../host-state.ts'
import { faultsOf, type Result, refusal, result } from './planning.ts'

test.each<[what: string, params: { name?: string; names?: string[] }, host: HostLiteral, result: Result]>([
  ['a missing package is installed', { name: 'nftables' }, { packageManager: 'dnf' }, ['install nftables with dnf']],
  ['by what the host has', { name: 'nftables' }, { packageManager: 'apt' }, ['install nftables with apt']],
  ['one that is there is left alone', { name: 'nftables' }, { packages: { nftables: '1.0' } }, []],
  [
    'several go together, each once, without those that are there',
    { names: ['a', 'b', 'c', 'a'] },
    { packages: { b: '1' } },
    ['install a, c with apt'],
  ],
  [
    'without a package manager nothing can be installed',
    { name: 'nftables' },
    { packageManager: null },
    { blocked: 'package-manager-missing' },
  ],
  [
    'and nothing need be, if it is there',
    { name: 'nftables' },
    { packageManager: null, packages: { nftables: '1.0' } },
    [],
  ],
])('%s', (_, params, host, expected) => {
  expect(result(packagePresent, params, host)).toEqual(expected)
})

test('on ACL packages must be in the image', () => {
  expect(refusal(packagePresent, { name: 'nftables' }, { packageManager: null, os: { family: 'acl' } })).toMatch(
    /build an image/,
  )
})

test.each([
  [{ name: '-y' }, /no name of a package/],
  [{ name: 'a b' }, /no name of a package/],
  [{ name: 'a=1' }, /no name of a package/],
  [{ name: './a.deb' }, /no name of a package/],
  [{ names: ['a', '*'] }, /no name of a package/],
  [{ names: [] }, /names/],
  [{}, /names no package/],
  [{ name: 'a', names: ['b'] }, /both/],
])('%j is refused before any host is touched', (params, fault) => {
  expect(faultsOf(packagePresent as never, params).join('\n')).toMatch(fault)
})
