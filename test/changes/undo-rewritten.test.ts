import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { predict } from '../../src/changes/predict.ts'
import { undoOf } from '../../src/changes/undo-of.ts'
import { undoScript } from '../../src/changes/undo-script.ts'
import { hostState } from '../tasks/host-state.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const unit = 'a.service'
const file = `/etc/systemd/system/${unit}`
const state = hostState({
  units: { [unit]: { ActiveState: 'active' } },
  paths: { [file]: { file: 'old' }, '/etc/a.conf': { file: 'old' }, '/usr/a': { link: '/usr/old' } },
})
const write = (path: string): Change => ({ kind: 'write', path, content: 'new', mode: 0o644, owner: 'root:root' })
const restart = (spoils: readonly string[]): Change => ({ kind: 'systemctl', verb: 'restart', unit, spoils })
const link: Change = { kind: 'link', path: '/usr/a', target: '/usr/new' }

const undone = (spoils: readonly string[]) =>
  undoOf([write(file), write('/etc/a.conf'), link, restart(spoils)].map((change) => ({ change, state })))

const rewritten = (spoils: readonly string[]): string[] => [
  ...new Set(undone(spoils).flatMap((undo) => (undo.kind === 'file' && undo.rewritten ? [undo.path] : []))),
]

test.each<[what: string, spoils: readonly string[], paths: readonly string[]]>([
  ['nothing, where what is started leaves files alone', [], []],
  ['what it writes anew', [`path:${file}`], [file]],
  ['all below what it writes anew', ['path:/etc/systemd'], [file]],
  ['not what only begins like it', ['path:/etc/a', `unit:${unit}`], []],
])('a file that the group itself starts somebody to rewrite is no stranger: %s', (_, spoils, paths) => {
  expect(rewritten(spoils)).toEqual(paths)
})

test('the host then takes whatever lies there for ours, and of a link nothing but what we made of it', () => {
  const scope = { lock: '/run/lock', root: '/opt/root' }
  const lines = undoScript(undone([`path:${file}`, 'path:/usr/a']), scope).split('\n')
  const places = lines
    .filter((line) => line.startsWith('place '))
    .map((line) => [line.split(' ')[1], / '?any'?( |$)/.test(line)])
  expect(places).toEqual([
    [expect.stringContaining('/usr/a'), false],
    [expect.stringContaining('/etc/a.conf'), false],
    [expect.stringContaining(file), true],
  ])
})

describe('what a started agent writes by itself', () => {
  const script = '/usr/local/lib/aks-flex-node/aks-flex-node-recovery.sh'
  const recovery = '/etc/systemd/system/b.service'
  const written = [file, recovery, script, '/etc/a.conf', '/etc/systemd/system/none.service', '/opt/agents']
  const known = hostState({
    units: { [unit]: { ActiveState: 'active' } },
    paths: { ...Object.fromEntries([file, recovery, script, '/etc/a.conf'].map((path) => [path, { file: 'old' }])) },
  })
  const started = restart(written.map((path) => `path:${path}`))

  test('units and the recovery script are put back and loaded, before it is started', () => {
    const undo = undoOf([{ change: started, state: known }])
    expect(undo.map((one) => ('path' in one ? one.path : one.kind))).toEqual([
      script,
      recovery,
      file,
      'daemon-reload',
      'unit',
    ])
    for (const one of undo)
      if (one.kind === 'file') expect([one.rewritten, one.wasSha256]).toEqual([true, digest('old')])
  })

  test('one that the group has written itself goes back to what was there before that', () => {
    const written = predict(known, write(file))
    const undo = undoOf([
      { change: write(file), state: known },
      { change: started, state: written },
    ])
    const place = undoScript(undo, { lock: '/l', root: '/r' })
      .split('\n')
      .find((line) => line.includes(`'${file}'`))
    expect(place).toMatch(new RegExp(`^place '${file}' 'file:${digest('old')}' .*'any' `))
  })

  test('a stopped one writes nothing', () => {
    const stop: Change = { kind: 'systemctl', verb: 'stop', unit, spoils: [`path:${file}`] }
    expect(undoOf([{ change: stop, state: known }]).map(({ kind }) => kind)).toEqual(['unit'])
  })
})

test.each<[active: string, was: string]>([
  ['active', 'up'],
  ['reloading', 'up'],
  ['activating', 'unsteady'],
  ['deactivating', 'unsteady'],
  ['failed', 'failed'],
  ['inactive', 'down'],
])('a unit that was %s is %s to the undo', (ActiveState, was) => {
  const state = hostState({ units: { [unit]: { ActiveState } } })
  expect(undoOf([{ change: restart([]), state }])).toMatchObject([{ kind: 'unit', was }])
})

test('one that this run made inactive by resetting its failure had failed', () => {
  const state = hostState({ units: { [unit]: { ActiveState: 'failed' } } })
  const reset = predict(state, { kind: 'systemctl', verb: 'reset-failed', unit })
  expect(undoOf([{ change: restart([]), state: reset }])).toMatchObject([{ kind: 'unit', was: 'failed' }])
})
