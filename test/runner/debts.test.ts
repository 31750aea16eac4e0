import { expect, test } from 'vitest'
import type { SelfFacts } from '../../src/facts/state.ts'
import { abandonedUploads, debtStep, toldStep } from '../../src/runner/debts.ts'
import { planHost } from '../../src/runner/plan.ts'
import { tasks } from '../../src/tasks/registry.ts'
import { aHost } from '../tasks/deployed.ts'
import { hostState } from '../tasks/host-state.ts'

const units = { 'a.service': { ActiveState: 'active' }, 'b.service': { ActiveState: 'inactive' } }
const step = { name: 'a', task: 'unit-running', params: { unit: 'a.service' }, when: null }
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

test.each(['armed', 'undoing'] as const)('while a rollback is %s, nothing that lies about is touched', (phase) => {
  expect(
    debts({ leftovers: ['/etc/.drover.r.0'], owed: ['daemon-reload'], rollback: { phase, text: 'r0' } }),
  ).toBeNull()
})

test('the line of a rollback is removed, and nothing of one that is not over', () => {
  const told = (phase: 'armed' | 'undoing' | 'rolled-back' | null) =>
    toldStep(hostState({ self: { rollback: phase === null ? null : { phase, text: 'r0' } } }))
  expect(told('rolled-back')).toEqual({
    status: 'planned',
    changes: [{ kind: 'remove', path: '/var/lib/drover/rolled-back', recurse: false }],
  })
  expect([told('armed'), told('undoing'), told(null)]).toEqual([null, null, null])
})

const digests = { wanted: 'a'.repeat(64), other: 'b'.repeat(64) }
const upload = (sha256: string) =>
  ({
    kind: 'upload',
    path: '/opt/agent',
    artifact: { file: '/here', sha256, size: 1 },
    mode: 0o755,
    owner: 'root:root',
  }) as const

test('what uploads left goes unless it is wanted, and no file that only has a name like it', () => {
  const kept = [`/opt/.drover-${digests.wanted}`, `/srv/.drover-${digests.wanted}.part`, '/opt/.drover-config']
  const gone = [`/opt/.drover-${digests.other}`, `/opt/.drover-${digests.other}.part`]
  const state = hostState({ self: { leftovers: [...kept, ...gone] } })
  expect(abandonedUploads(state, [upload(digests.wanted)])).toEqual({
    status: 'planned',
    changes: gone.map((path) => ({ kind: 'remove', path, recurse: false })),
  })
  expect(abandonedUploads(state, [upload(digests.wanted), upload(digests.other)])).toBeNull()
})

test('while somebody applies, it is in use', () => {
  const leftovers = [`/opt/.drover-${digests.other}`]
  expect(abandonedUploads(hostState({ self: { leftovers, applying: 'drover run r by x' } }), [])).toBeNull()
})

test('a host that is to be put back is, although something is owed: what cannot be known yet would keep it from that', () => {
  const state = hostState({ self: { owed: ['daemon-reload'] }, units })
  const names = (isAfterFailure: boolean) =>
    planHost({ host: aHost(), steps: [step] }, tasks, state, { isAfterFailure }).steps.map(({ name, status }) => [
      name,
      status,
    ])
  expect(names(false)).toEqual([
    ['owed by a run that was cut', 'planned'],
    ['a', 'unknown'],
  ])
  expect(names(true)).toEqual([['a', 'planned']])
})
