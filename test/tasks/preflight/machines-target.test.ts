import { describe, expect, test } from 'vitest'
import type { Severity } from '../../../src/tasks/task.ts'
import { aHost } from '../deployed.ts'
import type { UnitLiteral } from '../host-state.ts'
import { findingsOf, freshHost } from './checked.ts'

const modes = [
  { offline: false, variant: 'host' },
  { offline: true, variant: 'host' },
  { offline: false, variant: 'container' },
  { offline: true, variant: 'container' },
] as const

const judge = (target: UnitLiteral, mode: (typeof modes)[number]) =>
  findingsOf(freshHost({ units: { 'machines.target': target } }), 'machines-target', aHost(mode))

/** domain.md 4.1, row by row; the second severity is that of every mode but native online, where it differs. */
const rows: [string, UnitLiteral, Severity, Severity, string[]][] = [
  ['enabled', { UnitFileState: 'enabled' }, 'ok', 'ok', ['enabled']],
  [
    'disabled',
    { UnitFileState: 'disabled' },
    'warning',
    'warning',
    ['not enabled persistently', 'Wants=machines.target', 'disabled'],
  ],
  [
    'enabled in /run',
    { UnitFileState: 'enabled-runtime' },
    'warning',
    'warning',
    ['not enabled persistently', 'Wants=machines.target', 'enabled-runtime'],
  ],
  ['missing', { LoadState: 'not-found', UnitFileState: '' }, 'warning', 'error', ['systemd-container', 'not-found']],
  ['missing, an empty answer', { UnitFileState: '' }, 'warning', 'error', ['systemd-container']],
  [
    'missing, a stale file state',
    { LoadState: 'not-found', UnitFileState: 'enabled' },
    'warning',
    'error',
    ['systemd-container', 'enabled'],
  ],
  ['masked', { LoadState: 'masked', UnitFileState: 'masked' }, 'error', 'error', ['masked', 'unmask']],
  [
    'masked in /run',
    { LoadState: 'masked', UnitFileState: 'masked-runtime' },
    'error',
    'error',
    ['masked-runtime', 'unmask'],
  ],
  [
    'masked by LoadState alone',
    { LoadState: 'masked', UnitFileState: 'enabled' },
    'error',
    'error',
    ['LoadState=masked', 'UnitFileState=enabled'],
  ],
  [
    'masked on disk, not loaded yet',
    { LoadState: 'loaded', UnitFileState: 'masked' },
    'error',
    'error',
    ['UnitFileState=masked'],
  ],
  ['linked', { UnitFileState: 'linked' }, 'ok', 'ok', ['linked', 'Wants=machines.target']],
  [
    'linked in /run',
    { UnitFileState: 'linked-runtime' },
    'warning',
    'warning',
    ['linked-runtime', 'not enabled persistently'],
  ],
  ...['static', 'indirect', 'generated', 'alias', 'transient', 'bad', 'something-new'].map(
    (state): [string, UnitLiteral, Severity, Severity, string[]] => [
      state,
      { UnitFileState: state },
      'error',
      'error',
      [`state: ${state}`, `UnitFileState=${state}`],
    ],
  ),
  [
    'an alias of another unit',
    { Id: 'other.target', UnitFileState: 'enabled' },
    'error',
    'error',
    ['alias of other.target'],
  ],
  [
    'unloadable',
    { LoadState: 'bad-setting', LoadError: 'org.x "Unit is broken"', UnitFileState: 'enabled' },
    'error',
    'error',
    ['bad-setting', 'Unit is broken'],
  ],
]

describe.each(modes)('offline $offline, variant $variant', (mode) => {
  test.each(rows)('%s', (_, target, native, otherwise, words) => {
    const found = judge(target, mode)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      target: 'machines.target',
      ignored: false,
      severity: mode.offline || mode.variant === 'container' ? otherwise : native,
    })
    for (const word of words) expect(found[0]?.message).toContain(word)
    if (found[0]?.severity !== 'ok') expect(found[0]?.remedy).toMatch(/\S/)
  })

  test('systemctl not runnable: an error naming the cause', () => {
    const cause = 'systemctl show ended with 127: systemctl: not found'
    const found = findingsOf(freshHost({ noSystemd: cause }), 'machines-target', aHost(mode))
    expect(found).toEqual([expect.objectContaining({ severity: 'error', message: expect.stringContaining(cause) })])
  })
})

test('the variant is measured where an agent is installed (W5)', () => {
  const deployed = freshHost({
    units: {
      'machines.target': { LoadState: 'not-found' },
      'aks-flex-node-agent.service': { Requires: 'containerd.service' },
    },
  })
  expect(findingsOf(deployed, 'machines-target')[0]?.severity).toBe('error')
})

test('config.json decides on offline (W6)', () => {
  const config = {
    '/etc/aks-flex-node/config.json': { file: '{"bootstrap":{"offlineArtifacts":{"source":"/srv/b"}}}' },
  }
  const literal = freshHost({ units: { 'machines.target': { LoadState: 'not-found' } }, paths: config })
  expect(findingsOf(literal, 'machines-target')[0]?.severity).toBe('error')
  expect(findingsOf(literal, 'offline-disagreement')).toHaveLength(1)
})
