import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/changes/describe.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { dropInFile } from '../../../src/tasks/agent/paths.ts'
import { machinesTargetWired } from '../../../src/tasks/machines-target-wired.ts'
import { machinesTargetDropIn } from '../../../src/tasks/units/machines-target-drop-in.ts'
import { afterStartLimit, startRoom } from '../../../src/tasks/worker/start-room.ts'
import { stuckHost } from '../deployed.ts'
import { paramsOf, planOn, predicted, result, stateFor } from '../general/planning.ts'
import { type HostLiteral, hostState, type UnitLiteral } from '../host-state.ts'

const unit = 'aks-flex-node-agent.service'
const limit: UnitLiteral = { StartLimitBurst: '5', StartLimitIntervalUSec: '5min' }
const old = { systemdVersion: 252 } as const
const recent = { systemdVersion: 257 } as const
const acl = { systemdVersion: 257, family: 'acl' } as const
type Os = NonNullable<HostLiteral['os']>

const room = (os: Os, literal: UnitLiteral, hasReload: boolean) =>
  startRoom(viewOf(hostState({ os, units: { [unit]: { ...limit, ...literal } } })), unit, hasReload)

const reset = [`systemctl reset-failed ${unit}`]
const waits = [`wait until ${unit} has room for a start`]

describe('room for one more start', () => {
  test.each<[what: string, os: Os, unit: UnitLiteral, hasReload: boolean, changes: readonly string[]]>([
    ['there is enough of it after a single start', recent, { starts: 1 }, false, []],
    ['there is of five as long as three were made', recent, { starts: 3 }, false, []],
    ['on ACL alike', acl, { starts: 3 }, false, []],
    ['the fourth that would be followed by the last is too near', recent, { starts: 4 }, false, reset],
    ['beyond the limit as well', recent, { starts: 9 }, false, reset],
    ['with systemd 252 a reload has made it', old, { starts: 4 }, true, []],
    ['with systemd 252 and no reload it has to be made', old, { starts: 4 }, false, reset],
    ['with systemd 253 a reload has made it', { systemdVersion: 253 }, { starts: 4 }, true, []],
    ['from 254 on a reload makes none', { systemdVersion: 254 }, { starts: 4 }, true, reset],
    ['with systemd 257 a reload makes none', recent, { starts: 4 }, true, reset],
    ['of an unknown systemd nothing is hoped for', { systemdVersion: 0 }, { starts: 4 }, true, reset],
    ['on ACL reset-failed is denied, so it is waited for', acl, { starts: 4 }, false, waits],
    ['on ACL a reload makes none either', acl, { starts: 4 }, true, waits],
    [
      'where the journal does not tell how many there were, none is hoped for',
      recent,
      { starts: Infinity },
      false,
      reset,
    ],
    ['on ACL it is waited for then, too', acl, { starts: Infinity }, true, waits],
    ['a unit without a burst has no limit', recent, { starts: 9, StartLimitBurst: '0' }, false, []],
    ['a unit without an interval has none', recent, { starts: 9, StartLimitIntervalUSec: '0' }, false, []],
    ['a limit of one start is always too near', recent, { starts: 0, StartLimitBurst: '1' }, false, reset],
  ])('%s', (_, os, literal, hasReload, changes) => {
    expect(room(os, literal, hasReload).map(summaryOf)).toEqual(changes)
  })

  test('on ACL it waits for one window and a little more, and says what restarts the unit is to be found', () => {
    expect(room(acl, { starts: 4 }, true)).toMatchObject([
      {
        kind: 'await',
        condition: { unit, is: 'startable', below: 4, windowS: 300 },
        withinMs: 310_000,
        stableMs: 0,
        failure: {
          code: 'start-limit-near',
          message: expect.stringMatching(/4 times in its window of 300 s.*limit of 5/),
          remedy: expect.stringContaining(`journalctl -u ${unit}`),
        },
      },
    ])
  })

  test('where the journal does not tell, it is said that nobody knows, and no number is made up', () => {
    const [wait] = room(acl, { starts: Infinity }, true)
    expect(wait?.failure).toMatchObject({
      code: 'start-limit-near',
      message: expect.stringMatching(/cannot be read from the journal/),
    })
    expect(wait?.failure?.message).not.toMatch(/Infinity/)
  })
})

describe('after a unit has hit its limit', () => {
  const changesOn = (os: Os, literal: UnitLiteral) =>
    afterStartLimit(viewOf(hostState({ os, units: { [unit]: { ...limit, ...literal } } })), unit)

  test.each<[what: string, os: Os, unit: UnitLiteral, changes: readonly string[]]>([
    ['a unit that did not needs nothing', recent, { ActiveState: 'failed', Result: 'exit-code' }, []],
    ['nor does one that was stopped', recent, {}, []],
    ['the limit is lifted', recent, { ActiveState: 'failed', Result: 'start-limit-hit' }, reset],
    ['with an old systemd as well', old, { ActiveState: 'failed', Result: 'start-limit-hit' }, reset],
    ['on ACL it is waited for', acl, { ActiveState: 'failed', Result: 'start-limit-hit' }, waits],
  ])('%s', (_, os, literal, changes) => expect(changesOn(os, literal).map(summaryOf)).toEqual(changes))

  test('on ACL until a start is none too many, within one window and a little more', () => {
    expect(changesOn(acl, { Result: 'start-limit-hit' })).toMatchObject([
      {
        condition: { is: 'startable', below: 5, windowS: 300 },
        withinMs: 310_000,
        failure: { code: 'start-limit-near', message: expect.stringMatching(/limit of 5 in 300 s/) },
      },
    ])
  })
})

describe('the restart of a healing agent', () => {
  const agent = (changes: UnitLiteral): UnitLiteral => ({
    ActiveState: 'active',
    SubState: 'running',
    MainPID: '42',
    ...limit,
    ...changes,
  })
  const wired = { Wants: 'machines.target' } as const
  const paths = { [dropInFile]: { file: machinesTargetDropIn.content } }
  const before = (host: HostLiteral): readonly string[] => {
    const changes = result(machinesTargetWired, {}, host)
    if (!Array.isArray(changes)) throw new Error(JSON.stringify(changes))
    return changes.slice(0, changes.indexOf(`systemctl restart ${unit}`)) as string[]
  }
  const wire = [`write ${dropInFile} (0644 root:root, 29 bytes)`, 'systemctl daemon-reload']

  test.each<[what: string, host: HostLiteral, before: readonly string[]]>([
    ['with room it is made at once', stuckHost({ os: recent, units: { [unit]: agent({ starts: 2 }) } }), wire],
    [
      'at the limit of systemd 252 the reload before it is enough',
      stuckHost({ os: old, units: { [unit]: agent({ starts: 4 }) } }),
      wire,
    ],
    [
      'at the limit of systemd 252, wired already, the counter is reset',
      stuckHost({ os: old, units: { [unit]: agent({ starts: 4, ...wired }) }, paths }),
      reset,
    ],
    [
      'at the limit of systemd 257 it is reset after the reload',
      stuckHost({ os: recent, units: { [unit]: agent({ starts: 4 }) } }),
      [...wire, ...reset],
    ],
    [
      'at the limit on ACL it is waited for after the reload',
      stuckHost({ os: acl, units: { [unit]: agent({ starts: 4 }) } }),
      [...wire, ...waits],
    ],
  ])('%s', (_, host, expected) => expect(before(host)).toEqual(expected))

  test('a host that needs no restart is neither reset nor waited for', () => {
    const host = stuckHost({ os: acl, units: { [unit]: agent({ starts: 9 }) } })
    expect(result(machinesTargetWired, { restart_agent: 'never' }, host)).toEqual(wire)
  })

  test('it counts itself: a second restart in the same run would find less room', () => {
    const wanted = paramsOf(machinesTargetWired, {})
    const state = stateFor(
      machinesTargetWired,
      wanted,
      stuckHost({ os: recent, units: { [unit]: agent({ starts: 3 }) } }),
    )
    const after = predicted(state, planOn(machinesTargetWired, wanted, state))
    expect(after.units.get(unit)?.starts).toBe(4)
    expect(startRoom(viewOf(after), unit, false).map(summaryOf)).toEqual(reset)
  })
})
