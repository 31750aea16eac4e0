import { expect, test } from 'vitest'
import type { Fact } from '../../../src/facts/fact.ts'
import type { HostState } from '../../../src/facts/state.ts'
import { command } from '../../../src/tasks/general/command.ts'
import { filePresent } from '../../../src/tasks/general/file-present.ts'
import { unitRunning } from '../../../src/tasks/general/unit-running.ts'
import { aHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'
import { faultsOf, paramsOf, planOn, predicted, type Result, result, resultOf } from './planning.ts'

const argv = ['mkswap', '/srv/swap file']
const unless = ['blkid', '/srv/swap file']
const run = ['run mkswap "/srv/swap file"']
const answers = (code: number): HostLiteral => ({ commands: [[unless, { code }]] })

test.each<[what: string, params: { unless?: string[]; creates?: string }, host: HostLiteral, result: Result]>([
  ['runs where the other command says no', { unless }, answers(2), run],
  ['is left where it says yes', { unless }, answers(0), []],
  ['runs where the other command is not there', { unless }, answers(127), run],
  ['blocks where the other command does not end', { unless }, answers(124), { blocked: 'command-timeout' }],
  ['or has to be killed', { unless }, answers(137), { blocked: 'command-timeout' }],
  ['runs where the path is missing', { creates: '/srv/x' }, {}, run],
  ['is left where something is there', { creates: '/srv/x' }, { paths: { '/srv/x': { dir: [] } } }, []],
  ['a link is something', { creates: '/srv/x' }, { paths: { '/srv/x': { link: '/gone' }, '/gone': 'absent' } }, []],
])('%s', (_, params, host, expected) => {
  expect(result(command, { argv, ...params }, host)).toEqual(expected)
})

/** State after a command, with what a later step asks of it. */
const after = (input: Record<string, unknown>, literal: HostLiteral, asked: readonly Fact[]): HostState => {
  const params = paramsOf(command, { argv, ...input } as never)
  const state = hostState(literal, [...command.facts(params, aHost()), ...asked])
  return predicted(state, planOn(command, params, state))
}

test('what it does is seen only afterwards, in the directories that were missing as well', () => {
  const file = paramsOf(filePresent, { path: '/srv/new/conf', content: '' })
  const state = after(
    { creates: '/srv/new/made' },
    { paths: { '/srv/new': 'absent' } },
    filePresent.facts(file, aHost()),
  )
  expect(resultOf(planOn(filePresent, file, state))).toEqual({ unknown: true })
})

test('and in whatever it says it touches', () => {
  const unit = paramsOf(unitRunning, { unit: 'x.service' })
  const facts = unitRunning.facts(unit, aHost())
  const touched = after({ unless, touches: ['x.service', '/etc/x'] }, answers(1), facts)
  expect(resultOf(planOn(unitRunning, unit, touched))).toEqual({ unknown: true })
  expect(resultOf(planOn(unitRunning, unit, after({ unless }, answers(1), facts)))).toEqual({
    blocked: 'precondition-unmet',
  })
})

test.each([
  [{ argv }, /when there is nothing to do/],
  [{ argv, unless, creates: '/x' }, /both/],
  [{ argv: [], unless }, /empty/],
  [{ argv: [''], unless }, /no program/],
  [{ argv: ['a\0b'], unless }, /NUL/],
  [{ argv: 'mkswap /x', unless }, /a list/],
  [{ argv, unless: [] }, /empty/],
  [{ argv, creates: 'x' }, /no path/],
  [{ argv, unless, timeout_s: 0 }, /too small/],
  [{ argv, unless, touches: ['x'] }, /neither a path nor a unit/],
])('%j is refused before any host is touched', (params, fault) => {
  expect(faultsOf(command as never, params).join('\n')).toMatch(fault)
})
