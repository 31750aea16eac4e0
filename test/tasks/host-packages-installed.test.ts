import { expect, test } from 'vitest'
import { viewOf } from '../../src/facts/view.ts'
import { hostPackagesInstalled } from '../../src/tasks/host-packages-installed.ts'
import { aHost } from './deployed.ts'
import { type Result, resultOf } from './general/planning.ts'
import { type HostLiteral, hostState } from './host-state.ts'

const result = (literal: HostLiteral, offline = false): Result => {
  const host = aHost({ offline })
  return resultOf(
    hostPackagesInstalled.plan(viewOf(hostState(literal, hostPackagesInstalled.facts({}, host))), {}, host),
  )
}

const programs = {
  'systemd-nspawn': '/usr/bin/systemd-nspawn',
  curl: '/usr/bin/curl',
  nft: '/usr/sbin/nft',
  mountpoint: '/usr/bin/mountpoint',
}
const lacking = { programs: { ...programs, nft: null, 'systemd-nspawn': null } }
const config = (text: object) => ({ '/etc/aks-flex-node/config.json': { file: JSON.stringify(text), mode: 0o600 } })
const offlineConfig = config({ bootstrap: { offlineArtifacts: { source: '/srv/bundle' } } })

const rows: readonly [what: string, literal: HostLiteral, offline: boolean, result: Result][] = [
  ['all there', { programs }, false, []],
  ['all there, offline and image-managed', { programs, os: { family: 'acl' }, packageManager: null }, true, []],
  [
    'the package without the program in PATH',
    { ...lacking, packages: { nftables: '1', 'systemd-container': '252' } },
    false,
    [],
  ],
  ['apt', lacking, false, ['install systemd-container, nftables with apt']],
  ['dnf', { ...lacking, packageManager: 'dnf' }, false, ['install systemd-container, nftables with dnf']],
  ['no package manager', { ...lacking, packageManager: null }, false, { blocked: 'package-manager-missing' }],
  [
    'image-managed, whatever tools it has',
    { ...lacking, os: { family: 'acl' }, packageManager: 'dnf' },
    false,
    { blocked: 'package-manager-missing' },
  ],
  ['offline by the inventory', lacking, true, { blocked: 'precondition-unmet' }],
  [
    'offline by config.json, which decides',
    { ...lacking, paths: offlineConfig },
    false,
    { blocked: 'precondition-unmet' },
  ],
  [
    'online by config.json, which decides',
    { ...lacking, paths: config({}) },
    true,
    ['install systemd-container, nftables with apt'],
  ],
  ['no root rights', { ...lacking, os: { uid: 1000 } }, false, { blocked: 'inspect-failed' }],
]

test.each(rows)('%s', (_, literal, offline, wanted) => {
  expect(result(literal, offline)).toEqual(wanted)
})

test('what is missing is named', () => {
  const host = aHost({ offline: true })
  const plan = hostPackagesInstalled.plan(viewOf(hostState(lacking, hostPackagesInstalled.facts({}, host))), {}, host)
  expect(plan).toMatchObject({ error: { message: expect.stringContaining('systemd-container, nftables') } })
})
