import { describe, expect, test } from 'vitest'
import type { Value } from '../../src/playbook/value.ts'
import { LEGACY, ROOT, stagingRoot } from '../../src/tasks/agent/paths.ts'
import { hostRootSettled } from '../../src/tasks/host-root-settled.ts'
import { laidOut } from './deployed.ts'
import { paramsOf, planOn, refusal, result, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'
import {
  agent,
  agentsFile,
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
  unitsOn,
} from './move/moving.ts'

const lock = '/run/aks-flex-node-agent-upgrade.lock'
const hold = `hold the lock ${lock}`
const release = `let go of the lock ${lock}`
const seed = `${LEGACY}/bin/aks-flex-node`
const files = [
  ...['blue', 'green', 'current', 'last-good', 'recovery.sh'].map((name) => entry(LEGACY, name)),
  helperOf(LEGACY),
  localDnsOf(LEGACY),
]
const removed = (...paths: readonly string[]) => paths.map((path) => `remove ${path}`)
const library = `${LEGACY}/lib/aks-flex-node`
const mark = `${ROOT}/.moving`
const started = [
  `systemctl reset-failed ${agent}`,
  `systemctl restart ${agent}`,
  `wait until ${agent} runs ${entry(ROOT, 'blue')} for 45 s`,
  'wait until systemd-nspawn@kube1.service is seen to be untouched',
]
const whole = [hold, ...removed(...files, seed, library, agentsFile, mark), release, ...started]
const settle = (host: HostLiteral, input: { [key: string]: Value } = {}) => result(hostRootSettled, input, host)
const planFor = (host: HostLiteral) => {
  const params = paramsOf(hostRootSettled, {})
  return planOn(hostRootSettled, params, stateFor(hostRootSettled, params, host))
}
const localDnsAt = (root: string) => ({ [localDns]: { file: `[Service]\nExecStart=${localDnsOf(root)}\n` } })
const stopped = { [agent]: running('inactive', ROOT, ROOT) }

describe('M4 the second pass from where the host stands', () => {
  test('28: MOVING-2: the old files, what is empty then, the digests, and the mark last; then one start', () => {
    expect(settle(moving2())).toEqual(whole)
  })

  test('30: MOVING-2, half removed: the rest', () => {
    const paths = Object.fromEntries(files.slice(0, 4).map((path) => [path, 'absent' as const]))
    expect(settle(moving2({ paths }))).toEqual([
      hold,
      ...removed(...files.slice(4), seed, library, agentsFile, mark),
      release,
      ...started,
    ])
  })

  test('30: MOVING-2 and nothing but the mark is left', () => {
    const paths = { [mark]: { file: '' }, [agentsFile]: 'absent' } as const
    expect(settle(movedHost({ paths }))).toEqual([hold, `remove ${mark}`, release, ...started])
  })

  test('U5 MOVING-1 of an agent that is stopped, with all names on the new root: drover makes this pass, and starts nothing', () => {
    expect(settle(moving2({ units: stopped }))).toEqual(whole.slice(0, -started.length))
  })

  test.each<[state: string, host: HostLiteral]>([
    ['MOVED', movedHost()],
    ['LINKED', linked()],
    ['STAGING', stagingHost()],
    ['SWAP-GAP', swapGap()],
    ['LEGACY', legacy()],
  ])('%s: there is nothing to finish', (_, host) => expect(settle(host)).toEqual([]))

  test.each<[state: string, host: HostLiteral, code: string]>([
    ['MOVING-1, and the agent runs from the old root', moving1(), 'move-stuck'],
    [
      'MOVING-1, and the agent is between two starts',
      moving2({ units: { [agent]: running('activating', ROOT, ROOT) } }),
      'move-stuck',
    ],
    [
      'MOVING-1, and the agent has failed',
      moving2({ units: { [agent]: running('failed', ROOT, ROOT) } }),
      'move-stuck',
    ],
    [
      'MOVING-1, stopped, and its unit names the old root',
      moving1({ units: { [agent]: running('inactive', LEGACY, LEGACY) } }),
      'move-stuck',
    ],
    [
      'MOVING-1, stopped, and the copy is not whole',
      moving2({ units: stopped, paths: { [entry(ROOT, 'green')]: 'absent' } }),
      'move-stuck',
    ],
    ['LEGACY-PLAIN', laidOut('LEGACY-PLAIN'), 'move-not-ready'],
    ['ABSENT', {}, 'agent-missing'],
    ['CONFLICT', legacy({ paths: { [ROOT]: { dir: [] } } }), 'move-unfinished'],
    ['OPERATOR-LINK', legacy({ paths: { [ROOT]: { link: '/data' } } }), 'operator-link'],
    ['BLOCKED', legacy({ paths: { [ROOT]: 'other' } }), 'layout-unknown'],
  ])('%s: nothing is removed', (_, host, code) => expect(settle(host)).toEqual({ blocked: code }))

  test('--stop-at link: whatever the state, nothing is finished', () => {
    expect(settle(moving2(), { stop_at: 'link' })).toEqual([])
  })
})

test('a stuck move is told with what runs, what the unit starts, and the reason out of the journal', () => {
  const probes = { 'move-journal': "could not move the agent's files: NVIDIA\n" }
  expect(refusal(hostRootSettled, {}, moving1({ probes }))).toMatch(
    /runs \/usr\/local\/.*its unit starts \/usr\/local\/.*could not move the agent's files: NVIDIA/,
  )
})

test('M7 units that name the old root are written before anything is removed', () => {
  const plan = settle(moving2({ paths: { ...unitsOn(ROOT), [override]: { file: `X=${helperOf(LEGACY)}\n` } } }))
  expect(plan).toEqual([
    hold,
    expect.stringMatching(/^write .*override.conf/),
    'systemctl daemon-reload',
    ...whole.slice(1),
  ])
})

test('the agent must still be the process that was seen to run from the new root', () => {
  const plan = planFor(moving2())
  const [, first] = plan.status === 'planned' ? plan.changes : []
  expect(first?.relies).toEqual([
    { path: ROOT, is: 'directory' },
    { path: mark, is: 'file' },
    { unit: agent, property: 'MainPID', value: '42' },
  ])
})

describe("33: what is not the agent's stays", () => {
  test('a foreign file keeps its directory, and is told of', () => {
    const host = moving2({ paths: { [`${library}/mine`]: { file: '' } } })
    expect(settle(host)).toEqual(whole.filter((line) => line !== `remove ${library}`))
    expect(planFor(host)).toMatchObject({ findings: [{ check: 'foreign-files-kept', lasting: true }] })
  })

  test.each<[what: string, node: NonNullable<HostLiteral['paths']>[string], goes: boolean]>([
    ['a plain binary', { file: 'seed' }, true],
    ["the agent's own link", { link: entry(LEGACY, 'current') }, true],
    ["the agent's own link, by its new name", { link: entry(ROOT, 'current') }, true],
    ["somebody's own link", { link: '/srv/agent' }, false],
  ])('%s at the place of the seed', (_, node, goes) => {
    const host = moving2({ paths: { [seed]: node, '/srv/agent': 'absent' } })
    expect((settle(host) as string[]).includes(`remove ${seed}`)).toBe(goes)
    expect(planFor(host)).toMatchObject(goes ? {} : { findings: [{ check: 'operator-link-kept' }] })
  })

  test('a copy that was set aside goes, too', () => {
    expect(settle(moving2({ paths: { [stagingRoot]: { dir: true } } }))).toContain(
      `remove ${stagingRoot} and all in it`,
    )
  })
})

test.each<[what: string, host: HostLiteral, code: string]>([
  ['a directory where a file belongs', moving2({ paths: { [localDnsOf(LEGACY)]: { dir: [] } } }), 'path-in-the-way'],
  [
    'the lock held',
    moving2({ probes: { 'activation-lock': 'lock=held\nholder=7 x y.service\n' } }),
    'activation-locked',
  ],
  [
    'a unit that is no file',
    moving2({ paths: { '/etc/systemd/system/aks-flex-node-agent.service': { dir: [] } } }),
    'layout-unknown',
  ],
])('%s keeps all of it', (_, host, code) => expect(settle(host)).toEqual({ blocked: code }))

test('#398 the seed is not removed while the agent runs from it', () => {
  const units = { [agent]: { ...running('active', ROOT, ROOT), exe: seed } }
  expect(settle(moving2({ paths: { [seed]: { file: 'seed' } }, units }))).toEqual({ blocked: 'move-stuck' })
})

describe('nothing of the old root goes that is still wanted', () => {
  test.each(['blue', 'green', 'current', 'last-good'])('where %s is missing at the new root', (name) => {
    expect(settle(moving2({ paths: { [entry(ROOT, name)]: 'absent' } }))).toEqual({
      blocked: name === 'blue' || name === 'current' ? 'layout-unknown' : 'move-stuck',
    })
  })
  test('where the unit, by a drop-in of somebody else, starts it', () => {
    const host = moving2({ units: { [agent]: running('active', LEGACY, ROOT) } })
    expect(settle(host)).toEqual({ blocked: 'move-stuck' })
  })
  test('M6 where a unit names a helper that never came to the new root', () => {
    const host = moving2({ paths: { [localDnsOf(ROOT)]: 'absent', ...unitsOn(ROOT), ...localDnsAt(LEGACY) } })
    expect(settle(host)).toEqual({ blocked: 'move-stuck' })
  })
  test('U5 and nothing is done to an agent that is just being stopped', () => {
    expect(settle(moving2({ units: { [agent]: running('deactivating', ROOT, ROOT) } }))).toEqual({
      blocked: 'precondition-unmet',
    })
  })
})
