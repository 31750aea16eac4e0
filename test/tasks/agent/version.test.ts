import { expect, test } from 'vitest'
import { probeKey } from '../../../src/facts/fact.ts'
import { questionFor } from '../../../src/facts/question.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { LEGACY, layoutEntry, ROOT } from '../../../src/tasks/agent/paths.ts'
import { readVersion, versionFacts, versionOf } from '../../../src/tasks/agent/version.ts'
import { hostState } from '../host-state.ts'

const current = layoutEntry(LEGACY, 'current')
const answering = (code: number, stdout: string) => {
  const state = hostState({}, versionFacts())
  return viewOf({ ...state, probes: new Map(state.probes).set(probeKey('agent-version', [current]), { code, stdout }) })
}

test('the version is what the binary says of itself', () => {
  expect(readVersion(answering(0, 'AKS Flex Node Agent\nVersion: v0.3.1\n'), 'LEGACY')).toBe('v0.3.1')
  expect(versionOf(answering(0, 'Version: v0.3.1\n'), LEGACY, 'current')).toBe('v0.3.1')
})

test.each([
  ['was not run, since it is not root’s', 126, `not-roots=${current}\nVersion: v6.6.6\n`],
  ['is not there', 127, ''],
  ['fails', 1, 'Version: v6.6.6\n'],
  ['says none', 0, 'hello\n'],
])('there is none of a binary that %s', (_, code, stdout) => {
  expect(readVersion(answering(code, stdout), 'LEGACY')).toBeNull()
})

test('no binary is run but by the probe that looks first whose it is', () => {
  const { commands } = questionFor(versionFacts())
  expect(commands.map(({ argv }) => argv.slice(4))).toEqual([[layoutEntry(ROOT, 'current')], [current]])
  for (const { argv } of commands) {
    expect(argv.slice(0, 2)).toEqual(['/bin/sh', '-c'])
    expect(argv[2]).toMatch(/^exec_of_root\(\) \{/)
    expect(argv[2]).toMatch(/exec_of_root "\$1" version/)
  }
})
