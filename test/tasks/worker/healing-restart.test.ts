import { describe, expect, test } from 'vitest'
import { expectationsOf } from '../../../src/changes/expect.ts'
import type { Value } from '../../../src/playbook/value.ts'
import { dropInFile } from '../../../src/tasks/agent/paths.ts'
import { machinesTargetWired } from '../../../src/tasks/machines-target-wired.ts'
import { machinesTargetDropIn } from '../../../src/tasks/units/machines-target-drop-in.ts'
import { daemonState, runningHost, stuckHost } from '../deployed.ts'
import { paramsOf, planOn, predicted, type Result, refusal, result, stateFor } from '../general/planning.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from '../host-state.ts'

const agent = 'aks-flex-node-agent.service'
const kube1 = 'systemd-nspawn@kube1.service'
const kube2 = 'systemd-nspawn@kube2.service'
const mine = 'systemd-nspawn@mine.service'
const wants = '/etc/systemd/system/machines.target.wants'
const template = { link: '/usr/lib/systemd/system/systemd-nspawn@.service' } as const
const also = (...units: readonly string[]): Record<string, PathLiteral> =>
  Object.fromEntries(units.map((unit) => [`${wants}/${unit}`, template]))

const up: UnitLiteral = {
  ActiveState: 'active',
  SubState: 'running',
  UnitFileState: 'enabled',
  MainPID: '42',
  Wants: 'machines.target',
}
const runs = (MainPID: string): UnitLiteral => ({ ActiveState: 'active', SubState: 'running', MainPID })
const nspawn = {
  ExecStart: '{ path=/usr/bin/systemd-nspawn ; argv[]=/usr/bin/systemd-nspawn --quiet --boot --machine=kube1 }',
}

/** Wired already, so that only the restart is left to be judged. */
const stuck = (changes: HostLiteral = {}): HostLiteral =>
  stuckHost({
    ...changes,
    units: { [agent]: up, [kube2]: {}, ...changes.units },
    paths: { [dropInFile]: { file: machinesTargetDropIn.content }, ...changes.paths },
  })

const restart = `systemctl restart ${agent}`
const heals = [restart, `wait until ${agent} is active for 15 s`, `wait until ${kube1} is active for 15 s`]
const untouched = (unit: string): string => `wait until ${unit} is seen to be untouched`

type Params = { readonly [key: string]: Value }

describe('the agent is restarted only where that heals', () => {
  test.each<[what: string, host: HostLiteral, result: Result]>([
    ['agent up, target down, the enabled worker of the active side down', stuck(), heals],
    [
      'a worker that failed is down',
      stuck({ units: { [kube1]: { ActiveState: 'failed', SubState: 'failed' } } }),
      heals,
    ],
    [
      'one that waits for its next attempt is down, not on its way',
      stuck({ units: { [kube1]: { ActiveState: 'activating', SubState: 'auto-restart' } } }),
      heals,
    ],
    [
      'a target that failed is as good as one that is down',
      stuck({ units: { 'machines.target': { ActiveState: 'failed' } } }),
      heals,
    ],
    [
      'a worker that is starting needs no help',
      stuck({ units: { [kube1]: { ActiveState: 'activating', SubState: 'start' } } }),
      [],
    ],
    [
      'nor does one whose preparations run',
      stuck({ units: { [kube1]: { ActiveState: 'activating', SubState: 'start-pre' } } }),
      [],
    ],
    ['a worker that runs needs none', stuck({ units: { [kube1]: runs('77') } }), []],
    ['a disabled worker was stopped on purpose', stuck({ paths: { [`${wants}/${kube1}`]: 'absent' } }), []],
    ['a link to /dev/null is no enablement', stuck({ paths: { [`${wants}/${kube1}`]: { link: '/dev/null' } } }), []],
    [
      'an enablement that is gone at the next boot is none',
      stuck({
        paths: { [`${wants}/${kube1}`]: 'absent', [`/run/systemd/system/machines.target.wants/${kube1}`]: template },
      }),
      [],
    ],
    [
      'systemd’s cached word for an enablement does not count',
      stuck({ units: { [kube1]: { UnitFileState: 'enabled' } }, paths: { [`${wants}/${kube1}`]: 'absent' } }),
      [],
    ],
    ['a masked worker would not start', stuck({ units: { [kube1]: { LoadState: 'masked' } } }), []],
    [
      'with the target up a restart starts nobody',
      stuck({ units: { 'machines.target': { ActiveState: 'active' } } }),
      [],
    ],
    ['an agent that is down is not started', stuck({ units: { [agent]: { ...up, ActiveState: 'inactive' } } }), []],
    ['nor one that failed', stuck({ units: { [agent]: { ...up, ActiveState: 'failed' } } }), []],
    [
      'nor is one that waits for its next attempt restarted',
      stuck({ units: { [agent]: { ...up, ActiveState: 'activating', SubState: 'auto-restart' } } }),
      [],
    ],
    [
      'the active side decides, not the number: kube2 down heals kube2',
      stuck({ paths: { ...daemonState('kube2'), [`${wants}/${kube1}`]: 'absent', ...also(kube2) } }),
      [restart, `wait until ${agent} is active for 15 s`, `wait until ${kube2} is active for 15 s`],
    ],
    [
      'the other side’s being down is no reason: the active side runs',
      stuck({ units: { [kube1]: runs('77') }, paths: also(kube2) }),
      [],
    ],
  ])('%s', (_, host, expected) => expect(result(machinesTargetWired, {}, host)).toEqual(expected))
})

describe('nobody starts along who was not asked for (W2)', () => {
  const refused = { blocked: 'would-start-others' } as const
  test.each<[what: string, host: HostLiteral, allow: readonly string[], result: Result]>([
    ['the other side, enabled and down, blocks', stuck({ paths: also(kube2) }), [], refused],
    ['allowed by the name of its machine it may start', stuck({ paths: also(kube2) }), ['kube2'], heals],
    ['allowed by the name of its unit as well', stuck({ paths: also(kube2) }), [kube2], heals],
    ['another name allows nothing', stuck({ paths: also(kube2) }), ['kube', 'kube1', 'systemd-nspawn@kube2'], refused],
    ['an operator’s own machine blocks', stuck({ paths: also(mine) }), [], refused],
    ['allowed by name it may start', stuck({ paths: also(mine) }), ['mine'], heals],
    ['each has to be allowed', stuck({ paths: also(kube2, mine) }), ['kube2'], refused],
    ['and where each is, they may start', stuck({ paths: also(kube2, mine) }), ['kube2', mine], heals],
    ['a unit that is no machine blocks alike', stuck({ paths: also('backup.service') }), ['backup'], refused],
    ['and is allowed by its name', stuck({ paths: also('backup.service') }), ['backup.service'], heals],
    [
      'one that fails again and again would be started anew',
      stuck({
        units: { [kube2]: { ActiveState: 'activating', SubState: 'auto-restart' } },
        paths: also(kube2),
      }),
      [],
      refused,
    ],
    [
      'one that runs is not started',
      stuck({ units: { [kube2]: runs('88') }, paths: also(kube2) }),
      [],
      [...heals, untouched(kube2)],
    ],
    [
      'one that is masked cannot start',
      stuck({ units: { [kube2]: { LoadState: 'masked' } }, paths: also(kube2) }),
      [],
      heals,
    ],
    [
      'one whose unit is gone cannot start',
      stuck({ units: { [kube2]: { LoadState: 'not-found' } }, paths: also(kube2) }),
      [],
      heals,
    ],
    [
      'one enabled for this boot only would start, too',
      stuck({ paths: { [`/run/systemd/system/machines.target.wants/${kube2}`]: template } }),
      [],
      refused,
    ],
    [
      'one that the vendor put under the target as well',
      stuck({ paths: { [`/usr/lib/systemd/system/machines.target.wants/${mine}`]: template } }),
      [],
      refused,
    ],
    [
      'and one whose link is gone, since systemd still has it loaded',
      stuck({ units: { 'machines.target': { Wants: `${kube1} ${kube2}` } } }),
      [],
      refused,
    ],
    ['or required', stuck({ units: { 'machines.target': { Requires: mine } } }), [], refused],
    [
      'the mount that systemd-container brings starts no machine',
      stuck({ paths: { '/usr/lib/systemd/system/machines.target.wants/var-lib-machines.mount': template } }),
      [],
      heals,
    ],
    [
      'with kube2 active, kube1 is the other side',
      stuck({ paths: { ...daemonState('kube2'), ...also(kube2) } }),
      [],
      refused,
    ],
  ])('%s', (_, host, allow_start, expected) => {
    expect(result(machinesTargetWired, { allow_start }, host)).toEqual(expected)
  })

  test('the refusal names them, how to allow them, and the way round', () => {
    const said = refusal(machinesTargetWired, {}, stuck({ paths: also(kube2, mine) }))
    expect(said).toContain(`${kube2}, ${mine}`)
    expect(said).toMatch(/--allow-start NAME/)
    expect(said).toMatch(/remediate/)
    expect(said).not.toContain(kube1)
  })

  test.each<[what: string, host: HostLiteral, params: Params]>([
    ['a host that is only wired', stuck({ paths: also(kube2) }), { restart_agent: 'never' }],
    ['a host whose worker runs', stuck({ units: { [kube1]: runs('77') }, paths: also(kube2) }), {}],
    ['a host whose target is up', runningHost({ paths: also(kube2) }), { restart_agent: 'never' }],
  ])('%s is not blocked: nothing would start', (_, host, params) => {
    expect(result(machinesTargetWired, params, host)).not.toHaveProperty('blocked')
  })
})

describe('after the restart (W4)', () => {
  const planned = (host: HostLiteral, params: Params = {}) => {
    const wanted = paramsOf(machinesTargetWired, params)
    const state = stateFor(machinesTargetWired, wanted, host)
    const plan = planOn(machinesTargetWired, wanted, state)
    if (plan.status !== 'planned') throw new Error(plan.status)
    return { state, plan, changes: plan.changes }
  }

  test('agent and worker must come up within within_s, and then stay up for stable_s', () => {
    const wait = { kind: 'await', stableMs: 5000, withinMs: 65_000 }
    expect(planned(stuck(), { stable_s: 5, within_s: 60 }).changes).toMatchObject([
      { verb: 'restart' },
      { ...wait, condition: { unit: agent, is: 'active' } },
      { ...wait, condition: { unit: kube1, is: 'active' } },
    ])
  })

  test('a worker that does not is told of as worker-down, with the wiring kept; an agent that does not is not', () => {
    const [, agentUp, workerUp] = planned(stuck()).changes
    expect(workerUp?.failure).toMatchObject({
      code: 'worker-down',
      message: expect.stringMatching(/systemd-nspawn@kube1\.service.*wiring is kept/s),
      remedy: expect.stringContaining(`journalctl -u ${kube1}`),
    })
    expect(agentUp?.failure?.code).not.toBe('worker-down')
  })

  test('a real machine must be running to machinectl as well, and a stand-in need not', () => {
    expect(result(machinesTargetWired, {}, stuck({ units: { [kube1]: nspawn } }))).toEqual([
      ...heals,
      'wait until machine kube1 is running',
    ])
    expect(planned(stuck({ units: { [kube1]: nspawn } })).changes.at(-1)?.failure?.code).toBe('worker-down')
    const sleep = { ExecStart: '{ path=/usr/bin/sleep ; argv[]=/usr/bin/sleep infinity }' }
    expect(result(machinesTargetWired, {}, stuck({ units: { [kube1]: sleep } }))).toEqual(heals)
  })

  test('a worker that ran must be the same process still, enabled or not', () => {
    for (const paths of [{}, also(kube2)]) {
      const last = planned(stuck({ units: { [kube2]: runs('88') }, paths })).changes.at(-1)
      expect(last).toMatchObject({
        kind: 'await',
        condition: { unit: kube2, is: 'untouched', mainPid: '88' },
        failure: { code: 'worker-leader-changed', message: expect.stringContaining(kube2) },
      })
    }
  })

  test.each(['inactive', 'failed', 'activating'])('one that was %s is nobody’s to look after', (ActiveState) => {
    const host = stuck({ units: { [kube2]: { ActiveState } }, paths: also(kube2) })
    expect(result(machinesTargetWired, { allow_start: ['kube2'] }, host)).toEqual(heals)
  })

  test('what decided whom it starts is looked at once more just before it', () => {
    const { state, changes } = planned(stuck({ units: { [kube2]: runs('88') }, paths: also(kube2) }))
    const [first] = changes
    if (first === undefined) throw new Error('no change')
    expect(expectationsOf(state, first)).toEqual(
      expect.arrayContaining([
        { unit: agent, property: 'ActiveState', value: 'active' },
        { unit: 'machines.target', property: 'ActiveState', value: 'inactive' },
        { directory: wants, holds: [kube1, kube2] },
        { path: '/etc/aks-flex-node/daemon-state.json', is: 'file', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]),
    )
  })

  test('it is predicted to bring up the target and, with it, the worker', () => {
    const { state, plan } = planned(stuck({ units: { 'machines.target': { Wants: kube1 } } }))
    const after = predicted(state, plan)
    for (const unit of ['machines.target', kube1, agent])
      expect(after.units.get(unit)?.properties.ActiveState, unit).toBe('active')
    expect(after.units.get(kube2)?.properties.ActiveState).toBe('inactive')
  })
})
