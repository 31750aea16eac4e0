import { describe, expect, test } from 'vitest'
import { LEGACY, ROOT, stagingRoot } from '../../src/tasks/agent/paths.ts'
import { hostRootLinked } from '../../src/tasks/host-root-linked.ts'
import { laidOut } from './deployed.ts'
import { planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import { legacy, linked, movedHost, moving1, moving2, stagingHost, swapGap } from './move/moving.ts'

const lock = '/run/aks-flex-node-agent-upgrade.lock'
const locked = (...changes: readonly string[]) => [`hold the lock ${lock}`, ...changes, `let go of the lock ${lock}`]
const made = 'create directory /opt/unbounded (0755 root:root)'
const link = `link ${ROOT} -> ${LEGACY}`
const planFor = (host: HostLiteral) => planOn(hostRootLinked, {}, stateFor(hostRootLinked, {}, host))
const there = (literal: NonNullable<HostLiteral['paths']>): HostLiteral => legacy({ paths: literal })

describe('M4 what is done in each state', () => {
  test.each<[state: string, host: HostLiteral, wanted: readonly string[] | string]>([
    ['LEGACY', legacy(), locked(made, link)],
    [
      'LEGACY, and nothing at /opt',
      there({ '/opt': 'absent' }),
      locked('create directory /opt (0755 root:root)', made, link),
    ],
    ['SWAP-GAP', swapGap(), locked(link)],
    ['LINK-ORPHAN', { paths: { [ROOT]: { link: LEGACY } } }, locked(`remove ${ROOT}`)],
    ['LINKED', linked(), []],
    ['STAGING', stagingHost(), []],
    ['MOVING-1', moving1(), []],
    ['MOVING-2', moving2(), []],
    ['MOVED', movedHost(), []],
    ['ABSENT', {}, []],
    ['EMPTY-ROOT', { paths: { [ROOT]: { dir: [] } } }, []],
    ['LEGACY-PLAIN', laidOut('LEGACY-PLAIN'), 'move-not-ready'],
    ['OPERATOR-LINK', there({ [ROOT]: { link: '/data/agent' } }), 'operator-link'],
    ['CONFLICT', there({ [ROOT]: { dir: [] } }), 'move-unfinished'],
    ['BLOCKED', there({ [ROOT]: { file: '' } }), 'layout-unknown'],
    ['UNREADABLE', { ...there({ '/opt/unbounded': { dir: true, mode: 0o700 } }), os: { uid: 1000 } }, 'inspect-failed'],
  ])('%s', (_, host, wanted) => {
    expect(result(hostRootLinked, {}, host)).toEqual(typeof wanted === 'string' ? { blocked: wanted } : wanted)
  })

  test('an operator of a host without an agent is told so, and it is no fault', () => {
    expect(planFor({})).toMatchObject({ findings: [{ check: 'nothing-to-move', severity: 'warning' }] })
  })
})

describe('26: /opt/unbounded', () => {
  test.each<[what: string, node: NonNullable<HostLiteral['paths']>[string]]>([
    ['closed to others', { dir: true, mode: 0o750 }],
    ["not root's", { dir: true, uid: 1000 }],
  ])('that is %s is left as it is (16)', (_, node) => {
    expect(result(hostRootLinked, {}, there({ '/opt/unbounded': node }))).toEqual(locked(link))
  })

  test('is a link to a directory: the link to the old root lies there', () => {
    const paths = { '/opt/unbounded': { link: '/data' }, '/data': { dir: true } } as const
    expect(result(hostRootLinked, {}, there(paths))).toEqual(locked(link))
  })

  test.each<[what: string, paths: NonNullable<HostLiteral['paths']>]>([
    ['a file', { '/opt/unbounded': { file: '' } }],
    ['a link that leads nowhere', { '/opt/unbounded': { link: '/data' }, '/data': 'absent' }],
  ])('is %s: it is in the way', (_, paths) => {
    expect(result(hostRootLinked, {}, there(paths))).toEqual({ blocked: 'path-in-the-way' })
  })
})

test('what was seen of both roots is looked at again under the lock', () => {
  const planned = planFor(legacy())
  const [, first] = planned.status === 'planned' ? planned.changes : []
  expect(first?.relies).toEqual([
    { path: ROOT, is: 'absent' },
    { path: stagingRoot, is: 'absent' },
  ])
})

test.each<[code: string, host: HostLiteral]>([
  ['activation-locked', legacy({ probes: { 'activation-lock': 'lock=held\nholder=7 agent x.service\n' } })],
  ['precondition-unmet', legacy({ mounts: { '/opt/unbounded': { readOnly: true } } })],
  [
    'agent-missing',
    legacy({
      units: { 'aks-flex-node-agent.service': { LoadState: 'not-found' } },
      paths: { '/etc/systemd/system/aks-flex-node-agent.service': 'absent' },
    }),
  ],
  ['inspect-failed', legacy({ noSystemd: 'no bus' })],
])('%s keeps it from being linked', (code, host) => {
  expect(result(hostRootLinked, {}, host)).toEqual({ blocked: code })
  expect(refusal(hostRootLinked, {}, host)).toMatch(/[.?]$/)
})
