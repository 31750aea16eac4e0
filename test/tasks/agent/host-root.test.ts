import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { fittingStates, type HostRootSigns, hostRootState, hostRootStates } from '../../../src/tasks/agent/host-root.ts'
import { hostRootFacts, hostRootSigns } from '../../../src/tasks/agent/host-root-signs.ts'
import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { type HostLiteral, hostState, type PathLiteral } from '../host-state.ts'

const booleans = ['readable', 'moving', 'staging', 'legacyLayout', 'rootLayout', 'plainAgent', 'runsFromRoot'] as const
const roots = ['absent', 'legacy-link', 'other-link', 'directory', 'other'] as const

const everyCombination = (): HostRootSigns[] =>
  roots.flatMap((root) =>
    Array.from({ length: 2 ** booleans.length }, (_, bits) => ({
      ...(Object.fromEntries(booleans.map((sign, index) => [sign, (bits & (1 << index)) !== 0])) as Omit<
        HostRootSigns,
        'root'
      >),
      root,
    })),
  )

test('every combination of signs is exactly one state, and every state is reached', () => {
  const all = everyCombination()
  expect(all).toHaveLength(640)
  for (const signs of all) expect(fittingStates(signs), JSON.stringify(signs)).toHaveLength(1)
  expect(new Set(all.map(hostRootState))).toEqual(new Set(hostRootStates))
})

const legacyLayout: Record<string, PathLiteral> = {
  [`${LEGACY}/lib/aks-flex-node/aks-flex-node-current`]: { link: `${LEGACY}/lib/aks-flex-node/aks-flex-node-blue` },
  [`${LEGACY}/lib/aks-flex-node/aks-flex-node-blue`]: { file: 'ELF' },
}
const rootLayout: Record<string, PathLiteral> = { [`${ROOT}/bin/aks-flex-node`]: { file: 'ELF' } }
const unitFile: Record<string, PathLiteral> = { '/etc/systemd/system/aks-flex-node-agent.service': { file: '' } }
const moving: Record<string, PathLiteral> = { [`${ROOT}/.moving`]: { file: '' } }
const runs = (exe: string): HostLiteral['units'] => ({ 'aks-flex-node-agent.service': { ActiveState: 'active', exe } })

const stateOf = (literal: HostLiteral): string =>
  hostRootState(hostRootSigns(viewOf(hostState(literal, hostRootFacts()))))

describe('on disk', () => {
  const rows: [string, HostLiteral][] = [
    ['ABSENT', {}],
    ['ABSENT', { paths: { [`${LEGACY}/bin/aks-flex-node`]: { file: 'ELF' } } }],
    ['LEGACY-PLAIN', { paths: { [`${LEGACY}/bin/aks-flex-node`]: { file: 'ELF' }, ...unitFile } }],
    ['LEGACY', { paths: legacyLayout }],
    ['SWAP-GAP', { paths: { ...legacyLayout, [`${ROOT}.staging`]: { dir: true } } }],
    ['LINKED', { paths: { ...legacyLayout, [ROOT]: { link: '/usr/local' } } }],
    ['STAGING', { paths: { ...legacyLayout, [ROOT]: { link: '/usr/local' }, [`${ROOT}.staging`]: { dir: true } } }],
    ['LINK-ORPHAN', { paths: { [ROOT]: { link: '/usr/local' } } }],
    ['OPERATOR-LINK', { paths: { ...legacyLayout, [ROOT]: { link: '/usr/local/' } } }],
    ['OPERATOR-LINK', { paths: { [ROOT]: { link: '/data/agent' }, '/data/agent': { dir: true } } }],
    ['BLOCKED', { paths: { [ROOT]: { file: '' } } }],
    ['BLOCKED', { paths: { [ROOT]: 'other' } }],
    [
      'MOVING-1',
      {
        paths: { ...legacyLayout, ...rootLayout, ...moving },
        units: runs(`${LEGACY}/lib/aks-flex-node/aks-flex-node-blue`),
      },
    ],
    ['MOVING-1', { paths: { ...legacyLayout, ...rootLayout, ...moving }, units: runs('') }],
    ['MOVING-1', { paths: { ...rootLayout, ...moving }, noSystemd: 'no bus' }],
    [
      'MOVING-2',
      {
        paths: { ...legacyLayout, ...rootLayout, ...moving },
        units: runs(`${ROOT}/lib/aks-flex-node/aks-flex-node-blue`),
      },
    ],
    ['CONFLICT', { paths: { ...legacyLayout, ...rootLayout } }],
    ['EMPTY-ROOT', { paths: { [ROOT]: { dir: true } } }],
    ['MOVED', { paths: rootLayout }],
    ['UNREADABLE', { os: { uid: 1000 }, paths: { ...rootLayout, '/opt/unbounded': { dir: true, mode: 0o750 } } }],
    [
      'UNREADABLE',
      { os: { uid: 1000 }, paths: { ...legacyLayout, [`${LEGACY}/lib/aks-flex-node`]: { dir: true, mode: 0o750 } } },
    ],
    ['UNREADABLE', { os: { uid: 1000 }, paths: { ...rootLayout, ...moving } }],
    ['MOVED', { os: { uid: 1000 }, paths: rootLayout }],
  ]
  test.each(rows)('%s', (state, literal) => expect(stateOf(literal)).toBe(state))
})

test('/opt itself may be a link', () => {
  expect(stateOf({ paths: { '/opt': { link: '/data' }, [ROOT]: { link: '/usr/local' }, ...legacyLayout } })).toBe(
    'LINKED',
  )
})

test('any mixture of what may lie on disk has a state and never throws', () => {
  const root = fc.constantFrom<PathLiteral>(
    'absent',
    'other',
    { file: '' },
    { dir: true },
    { link: '/usr/local' },
    { link: '/srv/x' },
  )
  fc.assert(
    fc.property(
      root,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(0, 1000),
      (kind, legacy, staging, mark, uid) => {
        const isDirectory = typeof kind === 'object' && 'dir' in kind
        const state = stateOf({
          os: { uid },
          paths: {
            [ROOT]: kind,
            ...(legacy && legacyLayout),
            ...(staging && { [`${ROOT}.staging`]: { dir: true as const } }),
            ...(mark && isDirectory && moving),
          },
        })
        expect(hostRootStates).toContain(state)
      },
    ),
  )
})
