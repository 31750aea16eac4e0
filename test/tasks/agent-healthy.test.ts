import { describe, expect, test } from 'vitest'
import { LEGACY, ROOT } from '../../src/tasks/agent/paths.ts'
import { agentHealthy } from '../../src/tasks/agent-healthy.ts'
import { execStart, laidOut, settledStates } from './deployed.ts'
import { paramsOf, planOn, stateFor } from './general/planning.ts'
import type { HostLiteral } from './host-state.ts'

const agent = 'aks-flex-node-agent.service'
const entry = (root: string, name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
const signal = '/etc/aks-flex-node/agent-upgrade-signal.json'

const lookAt = (host: HostLiteral) => {
  const params = paramsOf(agentHealthy, {})
  return planOn(agentHealthy, params, stateFor(agentHealthy, params, host))
}
const findings = (host: HostLiteral): string[] => {
  const planned = lookAt(host)
  return 'findings' in planned ? (planned.findings ?? []).map(({ check, severity }) => `${severity} ${check}`) : []
}
const unit = (changes: object): HostLiteral['units'] => ({
  [agent]: { ...laidOut('MOVED').units?.[agent], ...changes },
})
const moved = (changes: HostLiteral): HostLiteral => laidOut('MOVED', changes)

describe('an agent that is well', () => {
  test.each(settledStates)('on a host that is %s', (state) => {
    expect(lookAt(laidOut(state))).toMatchObject({ status: 'planned', changes: [] })
    expect(findings(laidOut(state))).toEqual(['ok agent-active'])
  })

  test.each<[what: string, host: HostLiteral, also: string]>([
    [
      'that is stopped was not proved to be well, and is no fault (U5)',
      moved({ units: unit({ ActiveState: 'inactive', exe: '' }) }),
      'warning not-health-checked',
    ],
    [
      'with a verdict pending: the API server may be out of reach (O-16)',
      moved({ paths: { [signal]: { file: '{}' } } }),
      'warning upgrade-signal',
    ],
  ])('%s', (_, host, also) => {
    expect(lookAt(host)).toMatchObject({ status: 'planned' })
    expect(findings(host)).toEqual(['ok agent-active', also])
  })

  test('is told how old a pending verdict is', () => {
    const planned = lookAt(
      moved({ paths: { [signal]: { file: '{"operationName":"op-1"}', modifiedS: 1_000_000 - 1200 } } }),
    )
    expect(planned).toMatchObject({ findings: [{}, { message: expect.stringMatching(/op-1 .* 20 minutes/) }] })
  })
})

describe('one that is not', () => {
  test.each<[what: string, host: HostLiteral, check: string]>([
    ['it failed', moved({ units: unit({ ActiveState: 'failed', Result: 'exit-code', exe: '' }) }), 'agent-active'],
    [
      'it waits for its next attempt',
      moved({ units: unit({ ActiveState: 'activating', SubState: 'auto-restart', exe: '' }) }),
      'agent-active',
    ],
    ['the link on PATH is missing', moved({ paths: { [`${ROOT}/bin/aks-flex-node`]: 'absent' } }), 'agent-links'],
    [
      'the link on PATH leads to the other slot',
      moved({ paths: { [`${ROOT}/bin/aks-flex-node`]: { link: entry(ROOT, 'green') } } }),
      'agent-links',
    ],
    ['last-good is missing', moved({ paths: { [entry(ROOT, 'last-good')]: 'absent' } }), 'last-good'],
    [
      'last-good cannot be run',
      moved({
        paths: {
          [entry(ROOT, 'last-good')]: { link: entry(ROOT, 'green') },
          [entry(ROOT, 'green')]: { file: 'x', mode: 0o644 },
        },
      }),
      'last-good',
    ],
    [
      'the worker has another binary',
      moved({ paths: { '/var/lib/machines/kube1/usr/local/bin/aks-flex-node': { file: 'x' } } }),
      'worker-binary',
    ],
    [
      'the unit names the plain binary',
      moved({ units: unit({ ExecStart: execStart(`${ROOT}/bin/aks-flex-node`) }) }),
      'agent-exec-start',
    ],
    [
      'a unit names a path that is gone',
      moved({
        paths: {
          '/etc/systemd/system/systemd-nspawn@kube1.service.d/override.conf': {
            file: `ExecStartPost=${LEGACY}/bin/unbounded-agent-nspawn-lifecycle nspawn-lifecycle post-start kube1\n`,
          },
        },
      }),
      'gone-path',
    ],
  ])('%s', (_, host, check) => {
    expect(lookAt(host)).toMatchObject({ status: 'failed', error: { code: 'agent-unhealthy' } })
    expect(findings(host).filter((finding) => finding.startsWith('error'))).toEqual([`error ${check}`])
  })

  test.each<[what: string, host: HostLiteral, code: string]>([
    ['a move that is not finished', moved({ paths: { [`${ROOT}/.moving`]: { file: '' } } }), 'move-unfinished'],
    ['switched and not restarted', moved({ units: unit({ exe: entry(ROOT, 'green') }) }), 'layout-unknown'],
    [
      'a state file that cannot be read',
      moved({ paths: { '/etc/aks-flex-node/daemon-state.json': { file: '{}' } } }),
      'state-unreadable',
    ],
    ['no agent', {}, 'agent-missing'],
  ])('cannot be judged: %s', (_, host, code) => {
    expect(lookAt(host)).toMatchObject({ status: 'blocked', error: { code } })
  })

  test('a name that only begins like a path that is gone is another name', () => {
    const file = `ExecStart=${entry(LEGACY, 'current')}-of-mine\n`
    const host = moved({ paths: { '/etc/systemd/system/systemd-nspawn@kube1.service.d/override.conf': { file } } })
    expect(lookAt(host)).toMatchObject({ status: 'planned' })
  })
})
