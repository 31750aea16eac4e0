import { expect, test } from 'vitest'
import { predict } from '../../src/changes/predict.ts'
import { commandKey, probeKey } from '../../src/facts/fact.ts'
import { lookUp } from '../../src/facts/tree.ts'
import { Unknown } from '../../src/facts/unknown.ts'
import { hostState } from '../tasks/host-state.ts'

const unknown = expect.any(Unknown)

test('after an installation unknown is what may have come with it, and nothing else', () => {
  const state = predict(
    hostState({
      packages: { wanted: '1', missing: null, other: '2' },
      programs: { there: '/bin/there', not: null },
      commands: [[['x'], {}]],
      ports: { 22: 'sshd', 80: null },
      probes: { swap: 'x' },
      units: {
        'new.service': { LoadState: 'not-found' },
        'old.service': { UnitFileState: 'disabled', ActiveState: 'active' },
      },
      paths: {
        '/usr/bin/new': 'absent',
        '/etc': { dir: ['a'] },
        '/etc/a': { file: 'kept' },
        '/home/x': 'absent',
        '/var/lib/y': 'absent',
        '/usrlocal': 'absent',
      },
    }),
    { kind: 'package', install: ['wanted'], manager: 'apt' },
  )
  expect(Object.fromEntries(state.packages)).toEqual({ wanted: unknown, missing: unknown, other: '2' })
  expect(Object.fromEntries(state.programs)).toEqual({ there: '/bin/there', not: unknown })
  expect(Object.fromEntries(state.ports)).toEqual({ 22: 'sshd', 80: unknown })
  expect(state.commands.get(commandKey(['x']))).toEqual(unknown)
  expect(state.probes.get(probeKey('swap', []))).toEqual(unknown)
  expect(state.units.get('new.service')?.properties).toMatchObject({ LoadState: unknown, ActiveState: unknown })
  expect(state.units.get('old.service')?.properties).toMatchObject({ UnitFileState: unknown, ActiveState: 'active' })
  expect(['/usr/bin/new', '/var/lib/y'].map((path) => lookUp(state.tree, path))).toEqual([unknown, unknown])
  expect(lookUp(state.tree, '/etc')).toMatchObject({ type: 'directory', entries: unknown })
  expect(lookUp(state.tree, '/etc/a')).toMatchObject({ size: 4 })
  expect(['/home/x', '/usrlocal'].map((path) => lookUp(state.tree, path))).toEqual([
    { type: 'absent' },
    { type: 'absent' },
  ])
})
