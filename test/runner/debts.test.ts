import { expect, test } from 'vitest'
import type { SelfFacts } from '../../src/facts/state.ts'
import { debtStep } from '../../src/runner/debts.ts'
import { hostState } from '../tasks/host-state.ts'

const units = { 'a.service': { ActiveState: 'active' }, 'b.service': { ActiveState: 'inactive' } }
const debts = (self: Partial<SelfFacts>) => debtStep(hostState({ self, units }))

test('nothing owed and nothing left is no step at all', () => expect(debts({})).toBeNull())

test('a reload that is owed makes unknown what is loaded, and nothing is ever restarted for a debt', () => {
  expect(debts({ owed: ['restart:a.service', 'daemon-reload'] })).toEqual({
    status: 'planned',
    changes: [{ kind: 'systemctl', verb: 'daemon-reload', spoils: ['unit:a.service', 'unit:b.service'] }],
  })
})

test('temporary files of ours go, and no file that only has a name like them', () => {
  const mine = ['/etc/.drover.2026-11-30T00-00-00Z-x-ab12.0', '/etc/.drover.r\u{2d}1.17']
  const others = [
    '/root/.drover.yaml',
    '/root/.drover.d',
    '/root/.drover-config',
    '/root/.drover.',
    '/etc/.drover.r 1.0',
    '/etc/x/.drover.1',
  ]
  expect(debts({ leftovers: [...mine, ...others] })).toEqual({
    status: 'planned',
    changes: mine.map((path) => ({ kind: 'remove', path, recurse: true })),
  })
  expect(debts({ leftovers: others })).toBeNull()
})

test('while somebody applies, what looks left over is in use', () => {
  expect(debts({ leftovers: ['/etc/.drover.r.0'], applying: 'drover run r by x' })).toBeNull()
})
