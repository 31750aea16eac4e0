import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { compile } from '../../src/changes/compile.ts'
import { summaryOf } from '../../src/changes/describe.ts'
import { expectationsOf } from '../../src/changes/expect.ts'
import { predict } from '../../src/changes/predict.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { type HostLiteral, hostState } from '../tasks/host-state.ts'

const reboot: Change = { kind: 'reboot', withinMs: 600_000 }
const unknown = expect.any(Unknown)
const booted = (literal: HostLiteral, ...before: Change[]) => [...before, reboot].reduce(predict, hostState(literal))

describe('after a reboot', () => {
  test('what lies on disk stays', () => {
    const state = booted({
      paths: { '/etc/motd': { file: 'hi' }, '/var/tmp': { dir: ['a'] }, '/runner': { file: 'x' } },
      packages: { curl: '8' },
      programs: { curl: '/usr/bin/curl' },
    })
    expect(lookUp(state.tree, '/etc/motd')).toMatchObject({ type: 'file' })
    expect(lookUp(state.tree, '/var/tmp')).toMatchObject({ type: 'directory', entries: ['a'] })
    expect(lookUp(state.tree, '/runner')).toMatchObject({ type: 'file' })
    expect([state.packages.get('curl'), state.programs.get('curl')]).toEqual(['8', '/usr/bin/curl'])
  })

  test.each(['/run/a', '/run/a/b', '/tmp/x', '/dev/shm/y'])('%s is for the boot to make', (path) => {
    expect(lookUp(booted({ paths: { [path]: { file: 'x' } } }).tree, path)).toEqual(unknown)
  })

  test('so is what lies there under another name', () => {
    const state = booted({ paths: { '/var/run': { link: '/run' }, '/run/a': { file: 'x' } } })
    expect(lookUp(state.tree, '/var/run/a')).toEqual(unknown)
    expect(lookUp(state.tree, '/run')).toMatchObject({ type: 'directory' })
  })

  test('no unit is known to run, and what its file says is known', () => {
    const state = booted({
      units: {
        'a.service': {
          ActiveState: 'active',
          MainPID: '7',
          InvocationID: 'abc',
          NRestarts: '2',
          exe: '/bin/a',
          starts: 3,
          Wants: 'b.service',
          UnitFileState: 'enabled',
          FragmentPath: '/etc/systemd/system/a.service',
        },
      },
    })
    expect(state.units.get('a.service')).toMatchObject({
      exe: unknown,
      starts: unknown,
      properties: {
        ActiveState: unknown,
        MainPID: unknown,
        InvocationID: unknown,
        NRestarts: unknown,
        LoadState: 'loaded',
        Wants: 'b.service',
        UnitFileState: 'enabled',
      },
    })
  })

  test.each([
    { FragmentPath: '/run/systemd/transient/a.service' },
    { DropInPaths: '/etc/systemd/system/a.service.d/x.conf /run/systemd/system/a.service.d/y.conf' },
  ])('nothing is known of a unit that this boot had made: %j', (made) => {
    expect(booted({ units: { 'a.service': made } }).units.get('a.service')?.properties.LoadState).toEqual(unknown)
  })

  test('systemd has read what was written: no reload is owed any more', () => {
    const path = '/etc/systemd/system/a.service'
    const state = booted(
      {
        units: { 'a.service': {} },
        paths: { '/etc/systemd/system': { dir: true } },
        self: { owed: ['daemon-reload'] },
      },
      {
        kind: 'write',
        path,
        content: '[Unit]\nWants=b.service\n',
        mode: 0o644,
        owner: 'root:root',
        model: { unit: 'a.service', sets: { LoadState: 'loaded' }, adds: { Wants: ['b.service'] } },
      },
    )
    expect(state.self.owed).toEqual([])
    expect(state.units.get('a.service')?.properties).toMatchObject({ Wants: 'b.service', NeedDaemonReload: 'no' })
    expect(state.units.get('a.service')?.pending).toBeUndefined()
  })

  test('nobody holds the host, and it has been booted', () => {
    const state = booted({ self: { lease: { run: 'r', owner: 'o', since: 's', ageS: 1 }, applying: 'x' } })
    expect([state.self.lease, state.self.applying, state.rebooted]).toEqual([null, null, true])
  })

  test('what listened and what commands said is unknown', () => {
    const state = booted({ ports: { 22: 'sshd' }, commands: [[['true'], { code: 0 }]], probes: { swap: 'x' } })
    for (const map of [state.ports, state.commands, state.probes]) expect([...map.values()]).toEqual([unknown])
  })
})

test('a reboot is told of in one word, relies on nothing, and has no place in a script', () => {
  expect(summaryOf(reboot)).toBe('reboot')
  expect(expectationsOf(hostState(), reboot)).toEqual([])
  expect(() => compile([{ change: reboot, expects: [] }])).toThrow('no part of a script')
})
