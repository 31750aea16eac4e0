import { expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { undoOf } from '../../src/changes/undo-of.ts'
import { undoScript } from '../../src/changes/undo-script.ts'
import { hostState } from '../tasks/host-state.ts'

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

const rewritten = (spoils: readonly string[]): string[] =>
  undone(spoils).flatMap((undo) => (undo.kind === 'file' && undo.rewritten ? [undo.path] : []))

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
