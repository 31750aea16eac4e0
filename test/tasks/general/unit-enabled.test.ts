import { expect, test } from 'vitest'
import { unitEnabled } from '../../../src/tasks/general/unit-enabled.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from '../host-state.ts'
import { type Result, refusal, result } from './planning.ts'

const unit = 'chronyd.service'
const link = `/etc/systemd/system/multi-user.target.wants/${unit}`
const linked: Record<string, PathLiteral> = { [link]: { link: '/usr/lib/systemd/system/chronyd.service' } }
const host = (literal: UnitLiteral, paths: Record<string, PathLiteral> = {}): HostLiteral => ({
  units: { [unit]: literal },
  paths,
})

const enable = [`systemctl enable ${unit}`]
const disable = [`systemctl disable ${unit}`]
const refused = { blocked: 'precondition-unmet' }

test.each<[what: string, host: HostLiteral, result: Result]>([
  ['a disabled unit is enabled', host({ UnitFileState: 'disabled' }), enable],
  ['an enabled one is left alone', host({ UnitFileState: 'enabled', WantedBy: 'multi-user.target' }, linked), []],
  [
    'enabled for systemd, but the link is gone: enabled again',
    host({ UnitFileState: 'enabled', WantedBy: 'multi-user.target' }),
    enable,
  ],
  [
    'a link to /dev/null is none',
    host({ UnitFileState: 'enabled', WantedBy: 'multi-user.target' }, { [link]: { link: '/dev/null' } }),
    enable,
  ],
  [
    'a link may lie where nobody looked',
    host({ UnitFileState: 'enabled', WantedBy: 'multi-user.target remote-fs.target' }),
    [],
  ],
  [
    'or come of RequiredBy',
    host({ UnitFileState: 'enabled', WantedBy: 'multi-user.target', RequiredBy: 'x.target' }),
    [],
  ],
  ['or of an alias', host({ UnitFileState: 'enabled' }), []],
  ['until the next boot is not enabled', host({ UnitFileState: 'enabled-runtime' }), enable],
  ['a linked unit file can be enabled', host({ UnitFileState: 'linked' }), enable],
  ['one that nothing can enable blocks', host({ UnitFileState: 'static' }), refused],
  ['so does one that only enables others', host({ UnitFileState: 'indirect' }), refused],
  ['a generated one', host({ UnitFileState: 'generated' }), refused],
  ['one without a file', host({ UnitFileState: '' }), refused],
  ['a masked one', host({ LoadState: 'masked', UnitFileState: 'masked' }), refused],
  ['one that was masked since the last reload', host({ UnitFileState: 'masked' }), refused],
  ['one that is not there', host({ LoadState: 'not-found' }), refused],
  ['an alias', host({ Id: 'ntpd.service', UnitFileState: 'disabled' }), refused],
  [
    'a read-only /etc',
    { ...host({ UnitFileState: 'disabled' }), mounts: { '/etc/systemd/system': { readOnly: true } } },
    refused,
  ],
])('enabled: %s', (_, literal, expected) => {
  expect(result(unitEnabled, { unit }, literal)).toEqual(expected)
})

test.each<[what: string, host: HostLiteral, result: Result]>([
  ['an enabled unit is disabled', host({ UnitFileState: 'enabled' }, linked), disable],
  ['a disabled one is left alone', host({ UnitFileState: 'disabled' }), []],
  ['disabled for systemd, but a link is there: disabled again', host({ UnitFileState: 'disabled' }, linked), disable],
  ['a link to /dev/null enables nothing', host({ UnitFileState: 'disabled' }, { [link]: { link: '/dev/null' } }), []],
  ['a masked unit starts at no boot', host({ LoadState: 'masked', UnitFileState: 'masked' }, linked), []],
  ['a static one has nothing to disable', host({ UnitFileState: 'static' }), []],
  ['nor has one that is not there', host({ LoadState: 'not-found' }), []],
  ['unless a link waits for it', host({ LoadState: 'not-found' }, linked), refused],
  ['enabled until the next boot is for a person to end', host({ UnitFileState: 'enabled-runtime' }), refused],
  ['an alias blocks', host({ Id: 'ntpd.service', UnitFileState: 'enabled' }), refused],
])('not enabled: %s', (_, literal, expected) => {
  expect(result(unitEnabled, { unit, enabled: false }, literal)).toEqual(expected)
})

test('a masked machines.target has a code of its own', () => {
  const units = { 'machines.target': { LoadState: 'masked' } }
  expect(result(unitEnabled, { unit: 'machines.target' }, { units })).toEqual({ blocked: 'target-masked' })
})

test('the reason why a unit cannot be enabled comes with the way out', () => {
  expect(refusal(unitEnabled, { unit }, host({ UnitFileState: 'static' }))).toMatch(
    /its unit file is static\. It has no \[Install\] section/,
  )
})
