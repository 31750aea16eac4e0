import { describe, expect, test } from 'vitest'
import { LEGACY, ROOT, stagingRoot } from '../../src/tasks/agent/paths.ts'
import { hostRootUnlinked } from '../../src/tasks/host-root-unlinked.ts'
import { laidOut } from './deployed.ts'
import { planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import {
  agent,
  entry,
  helperOf,
  legacy,
  linked,
  localDns,
  localDnsOf,
  movedHost,
  moving1,
  moving2,
  override,
  running,
  stagingHost,
  swapGap,
  unitText,
} from './move/moving.ts'

const lock = '/run/aks-flex-node-agent-upgrade.lock'
const locked = (...changes: readonly string[]) => [`hold the lock ${lock}`, ...changes, `let go of the lock ${lock}`]
const copy = `remove ${stagingRoot} and all in it`
const link = `remove ${ROOT}`

test.each<[state: string, host: HostLiteral, wanted: readonly string[] | string]>([
  ['LINKED', linked(), locked(link)],
  ['STAGING', stagingHost(), locked(copy, link)],
  ['SWAP-GAP', swapGap(), locked(copy)],
  ['LINK-ORPHAN', { paths: { [ROOT]: { link: LEGACY } } }, locked(link)],
  ['LEGACY', legacy(), []],
  ['LEGACY-PLAIN', laidOut('LEGACY-PLAIN'), []],
  ['ABSENT', {}, []],
  ['EMPTY-ROOT', { paths: { [ROOT]: { dir: [] } } }, []],
  ['MOVING-1', moving1(), 'precondition-unmet'],
  ['MOVING-2', moving2(), 'precondition-unmet'],
  ['MOVED', movedHost(), 'precondition-unmet'],
  ['OPERATOR-LINK', legacy({ paths: { [ROOT]: { link: '/data' } } }), 'operator-link'],
  ['CONFLICT', legacy({ paths: { [ROOT]: { dir: [] } } }), 'move-unfinished'],
  ['BLOCKED', legacy({ paths: { [ROOT]: 'other' } }), 'layout-unknown'],
])('M4 %s', (_, host, wanted) => {
  expect(result(hostRootUnlinked, {}, host)).toEqual(typeof wanted === 'string' ? { blocked: wanted } : wanted)
})

test('a host that has moved is told that there is no way back', () => {
  expect(refusal(hostRootUnlinked, {}, movedHost())).toContain('Not to /usr/local')
})

describe('what names the new root keeps the link', () => {
  test.each<[what: string, path: string, node: NonNullable<HostLiteral['paths']>[string]]>([
    ["the agent's unit", '/etc/systemd/system/aks-flex-node-agent.service', { file: unitText(ROOT) }],
    [
      'the recovery unit',
      '/etc/systemd/system/aks-flex-node-agent-recovery.service',
      { file: entry(ROOT, 'recovery.sh') },
    ],
    ['the recovery script', entry(LEGACY, 'recovery.sh'), { file: entry(ROOT, 'last-good') }],
    ['a hook', override, { file: `ExecStartPost=${helperOf(ROOT)} x\n` }],
    ["LocalDNS's unit", localDns, { file: `ExecStart=${localDnsOf(ROOT)}\n` }],
    ['current', entry(LEGACY, 'current'), { link: entry(ROOT, 'blue') }],
    ['the binary', `${LEGACY}/bin/aks-flex-node`, { link: entry(ROOT, 'current') }],
  ])('%s', (_, path, node) => {
    const host = linked({ paths: { [path]: node } })
    expect(result(hostRootUnlinked, {}, host)).toEqual({ blocked: 'precondition-unmet' })
    expect(refusal(hostRootUnlinked, {}, host)).toContain(path)
  })
})

test.each<[agent: string, LoadState: string, findings: unknown]>([
  ['an agent', 'loaded', [{ check: 'link-comes-back', severity: 'warning' }]],
  ['no agent', 'not-found', undefined],
])('with %s on the host the link may come back, or not', (_, LoadState, findings) => {
  const host = linked({ units: { [agent]: { LoadState } } })
  const planned = planOn(hostRootUnlinked, {}, stateFor(hostRootUnlinked, {}, host))
  expect(planned).toMatchObject({ status: 'planned', ...(findings !== undefined && { findings }) })
  expect('findings' in planned).toBe(findings !== undefined)
})

test('a move that the agent is making keeps it from being unlinked', () => {
  const probes = { 'activation-lock': 'lock=held\nholder=7 agent x.service\n' }
  expect(result(hostRootUnlinked, {}, linked({ probes }))).toEqual({ blocked: 'activation-locked' })
})

test('refused where the unit starts the agent through the link, whoever wrote that', () => {
  const host = linked({ units: { [agent]: running('active', ROOT, LEGACY) } })
  expect(result(hostRootUnlinked, {}, host)).toEqual({ blocked: 'precondition-unmet' })
  expect(refusal(hostRootUnlinked, {}, host)).toContain(`${agent} names ${ROOT}`)
})
