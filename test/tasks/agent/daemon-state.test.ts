import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { daemonStateFacts, readDaemonState } from '../../../src/tasks/agent/daemon-state.ts'
import { daemonState } from '../deployed.ts'
import { hostState, type PathLiteral } from '../host-state.ts'

const file = '/etc/aks-flex-node/daemon-state.json'
const read = (paths: Record<string, PathLiteral>) => readDaemonState(viewOf(hostState({ paths }, daemonStateFacts())))
const withText = (text: string): Record<string, PathLiteral> => {
  const good = hostState({ paths: { [file]: { file: text } } }).tree.nodes.get(file)
  const sha256 = good !== undefined && 'sha256' in good ? String(good.sha256) : ''
  return { [file]: { file: text }, [`${file}.sha256`]: { file: `${sha256}\n` } }
}

test('the active machine is read when the checksum fits', () => {
  expect(read(daemonState('kube2'))).toEqual({ ok: true, activeMachine: 'kube2' })
})

describe('no side is guessed', () => {
  test.each<[string, Record<string, PathLiteral>, RegExp]>([
    ['missing', {}, /is missing$/],
    ['no checksum', { [file]: { file: '{"activeMachine":"kube1"}' } }, /sha256 is missing$/],
    ['another checksum', { ...daemonState('kube1'), [`${file}.sha256`]: { file: 'ab'.repeat(32) } }, /does not match/],
    ['edited by hand', { ...daemonState('kube1'), [file]: { file: '{"activeMachine":"kube2"}' } }, /does not match/],
    ['not JSON', withText('kube1'), /not JSON$/],
    ['no object', withText('"kube1"'), /names no active machine$/],
    ['no machine', withText('{}'), /names no active machine$/],
    ['an unknown machine', withText('{"activeMachine":"kube3"}'), /names no active machine$/],
  ])('%s', (_, paths, why) => expect(read(paths)).toEqual({ ok: false, error: expect.stringMatching(why) }))
})
