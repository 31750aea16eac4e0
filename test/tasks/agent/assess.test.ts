import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { assess, statusFacts } from '../../../src/tasks/agent/assess.ts'
import { hostRootRow } from '../../../src/tasks/agent/host-root.ts'
import { dropInFile } from '../../../src/tasks/agent/paths.ts'
import { machinesTargetDropIn } from '../../../src/tasks/units/machines-target-drop-in.ts'
import { aHost, enabledTarget, movedPaths, runningHost, stuckHost } from '../deployed.ts'
import { type HostLiteral, hostState, type PathLiteral } from '../host-state.ts'

const host = aHost()
const status = (literal: HostLiteral) => assess(viewOf(hostState(literal, statusFacts(host))), host)
const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'

const wiredAgent = { ActiveState: 'active', UnitFileState: 'enabled', Wants: 'machines.target' }
const dropIn = { [dropInFile]: { file: machinesTargetDropIn.content } }

test.each<[string, string | null, HostLiteral]>([
  ['no-agent', null, {}],
  ['no-systemd', null, runningHost({ noSystemd: 'Failed to connect to bus' })],
  ['not-wired', 'machines-target', runningHost()],
  ['healthy', null, runningHost({ paths: enabledTarget })],
  ['healthy', null, runningHost({ units: { [agent]: wiredAgent }, paths: dropIn })],
  ['not-wired', 'machines-target', runningHost({ units: { [agent]: wiredAgent } })],
  ['not-wired', 'machines-target', runningHost({ paths: dropIn })],
  ['stuck', 'remediate', stuckHost()],
  ['stuck', 'remediate', stuckHost({ units: { [kube1]: { ActiveState: 'activating', SubState: 'auto-restart' } } })],
  ['worker-starting', null, stuckHost({ units: { [kube1]: { ActiveState: 'activating', SubState: 'start' } } })],
  ['stuck', 'remediate', stuckHost({ units: { 'machines.target': { ActiveState: 'active' } } })],
  [
    'target-masked',
    null,
    stuckHost({ units: { 'machines.target': { LoadState: 'masked', UnitFileState: 'masked' } } }),
  ],
  ['target-missing', null, stuckHost({ units: { 'machines.target': { LoadState: 'not-found' } } })],
  ['state-unreadable', null, stuckHost({ paths: { '/etc/aks-flex-node/daemon-state.json.sha256': 'absent' } })],
  ['state-unreadable', null, runningHost({ os: { uid: 1000 } })],
  ['containerd-failed', null, runningHost({ units: { [agent]: { Requires: 'containerd.service' } } })],
  ['agent-failed', null, runningHost({ units: { [agent]: { ActiveState: 'failed', Result: 'start-limit-hit' } } })],
  ['agent-down', null, runningHost({ units: { [agent]: {} } })],
  ['worker-stopped', null, stuckHost({ paths: { [`/etc/systemd/system/machines.target.wants/${kube1}`]: 'absent' } })],
  ['locked', null, stuckHost({ self: { lease: { run: 'r1', owner: 'eva@desk', since: 'now', ageS: 3 } } })],
  ['unconfirmed', null, runningHost({ paths: enabledTarget, self: { rollback: { phase: 'armed', text: 'r1' } } })],
])('%s, fix %s', (verdict, fix, literal) => {
  const seen = status(literal)
  expect(seen).toMatchObject({ verdict, fix })
  expect(seen.explanation).toMatch(/\S/)
})

describe('M4 what status says of the host root', () => {
  const root = '/opt/unbounded/agent'
  const wired = { ...enabledTarget }
  const moving = (modifiedS: number) => ({
    ...wired,
    [`${root}/.moving`]: { file: '', modifiedS },
    [`${root}/bin/aks-flex-node`]: { file: 'ELF' },
  })
  const reason = `level=ERROR msg="could not move the agent's files" error="no space left on device"`

  test('a move that does not end, in the words of the agent', () => {
    const restarted = { [agent]: { ActiveState: 'active', NRestarts: '2' } }
    const probes = { 'move-journal': `${reason}\n` }
    const seen = status(runningHost({ paths: moving(999_700), units: restarted, probes }))
    expect(seen).toMatchObject({
      hostRoot: 'MOVING-1',
      verdict: 'move-stuck',
      fix: 'migrate',
      move: { how: 'stuck', ageS: 300, restarts: 2, reason },
    })
    expect(seen.explanation).toMatch(
      /^MOVING-1: Both roots .* for 5 minutes, .* again 2 times, .* it said: .*no space left on device/,
    )
    expect(seen.remedy).toMatch(/drover run migrate.*Never delete \/opt\/unbounded\/agent\/\.moving/)
  })

  test('one of which the journal says nothing', () => {
    expect(status(runningHost({ paths: moving(999_700) })).explanation).toMatch(/does not say why$/)
  })

  test('within its three minutes it is no fault of anybody, and nothing is offered', () => {
    const seen = status(runningHost({ paths: moving(999_880), units: { [agent]: { ActiveState: 'activating' } } }))
    expect(seen).toMatchObject({ verdict: 'moving', fix: null, move: { how: 'going', ageS: 120 } })
    expect(seen.remedy).toMatch(/three minutes/)
  })

  test('181 s are stuck and 180 s are not', () => {
    expect(status(runningHost({ paths: moving(999_819) })).verdict).toBe('move-stuck')
    expect(status(runningHost({ paths: moving(999_820) })).verdict).toBe('moving')
  })

  const linked = { ...wired, [root]: { link: '/usr/local' } }
  const staging = { [`${root}.staging`]: { dir: true as const } }
  test.each<[string, string, string | null, Record<string, PathLiteral>]>([
    ['STAGING', 'move-cut', 'migrate', { ...linked, ...staging }],
    ['SWAP-GAP', 'move-cut', 'migrate', { ...wired, ...staging }],
    ['CONFLICT', 'root-conflict', null, { ...wired, [`${root}/bin/aks-flex-node`]: { file: 'ELF' } }],
    ['BLOCKED', 'root-conflict', null, { ...wired, [root]: { file: '' } }],
    ['OPERATOR-LINK', 'healthy', null, { ...wired, [root]: { link: '/data/agent' } }],
    ['LINKED', 'healthy', null, linked],
    ['MOVED', 'healthy', null, { ...wired, ...movedPaths }],
  ])('%s is %s, fix %s', (hostRoot, verdict, fix, paths) => {
    const seen = status(runningHost({ paths }))
    expect(seen).toMatchObject({ hostRoot, verdict, fix })
    if (verdict === 'healthy') expect(seen.remedy).toBeNull()
    else {
      expect(seen.explanation).toContain(hostRootRow(seen.hostRoot).means)
      expect(seen.remedy).toMatch(/\S/)
    }
  })

  test('what keeps a linked host from moving, and migrate once nothing does', () => {
    const ready = {
      ...linked,
      '/etc/aks-flex-node/host-root-agents': { file: digestOf('ELF') },
      [slot('current')]: { link: slot('blue') },
      [slot('last-good')]: { link: slot('blue') },
      [slot('blue')]: { file: 'ELF' },
    }
    expect(status(runningHost({ paths: ready }))).toMatchObject({ linked: 'ready', verdict: 'healthy', fix: 'migrate' })
    expect(status(runningHost({ paths: linked }))).toMatchObject({ linked: 'waiting-for-release', fix: null })
  })
})

const slot = (entry: string): string => `/usr/local/lib/aks-flex-node/aks-flex-node-${entry}`
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

test('the whole of a stuck host', () => {
  expect(status(stuckHost())).toMatchObject({
    host: 'node-1',
    os: 'rocky 9.8',
    systemdVersion: 252,
    agent: { installed: true, variant: 'host', version: 'v0.2.0', state: 'active', enabled: true },
    hostRoot: 'LEGACY',
    target: { state: 'inactive', fileState: 'disabled', enabled: false },
    worker: { machine: 'kube1', unit: kube1, state: 'inactive', enabled: true },
    explanation: 'systemd-nspawn@kube1.service is enabled and inactive; machines.target is inactive',
  })
})

test('without root what root alone may read is null, and the rest is right', () => {
  const seen = status(runningHost({ os: { uid: 1000 } }))
  expect(seen).toMatchObject({
    worker: { machine: 'kube1', state: 'active', isAssumed: true },
    stateError: null,
    linked: null,
    agent: { state: 'active', version: 'v0.2.0' },
  })
})

test('a linked host says why it has not moved', () => {
  const linked = { '/opt/unbounded/agent': { link: '/usr/local' } }
  expect(status(runningHost({ paths: linked }))).toMatchObject({ hostRoot: 'LINKED', linked: 'waiting-for-release' })
})
