import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import {
  type HostRootSigns,
  type HostRootState,
  hostRootRow,
  hostRootState,
  hostRootStates,
  hostRootTable,
  isHalfMoved,
  type MigrationStep,
} from '../../../src/tasks/agent/host-root.ts'
import { settledRoot } from '../../../src/tasks/agent/layout.ts'
import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { unsettledRoot } from '../../../src/tasks/switch/unsettled-root.ts'
import { hostState } from '../host-state.ts'

/** Only a person, or a host that was not asked as root, brings a host here. */
const madeByPeople: readonly HostRootState[] = ['UNREADABLE', 'BLOCKED', 'OPERATOR-LINK', 'CONFLICT']
const migratable = hostRootTable.filter(({ migrate }) => migrate !== 'refuse' && migrate !== 'nothing')

test('M4 every state that a row leads to is a row', () => {
  for (const { state, leadsTo } of hostRootTable)
    for (const next of leadsTo) expect(hostRootStates, `${state} leads to ${next}`).toContain(next)
})

test('M4 every state is come to from a host without an agent, or is made by people', () => {
  const reached = new Set<HostRootState>(['ABSENT'])
  for (const state of reached) for (const next of hostRootRow(state).leadsTo) reached.add(next)
  expect([...reached, ...madeByPeople].sort()).toEqual([...hostRootStates].sort())
})

/** What each step makes of the signs, said once more and apart from the code that makes it. */
const after: Readonly<Record<Exclude<MigrationStep, 'done' | 'nothing' | 'refuse'>, Partial<HostRootSigns>>> = {
  link: { root: 'legacy-link' },
  'drop-link': { root: 'absent' },
  move: { root: 'directory', moving: true, staging: false, rootLayout: true, runsFromRoot: false },
  restart: { runsFromRoot: true },
  finish: { moving: false, legacyLayout: false, rootLayout: true },
}

const anySigns: fc.Arbitrary<HostRootSigns> = fc.record({
  readable: fc.constant(true),
  root: fc.constantFrom('absent', 'legacy-link', 'other-link', 'directory', 'other'),
  moving: fc.boolean(),
  staging: fc.boolean(),
  legacyLayout: fc.boolean(),
  rootLayout: fc.boolean(),
  plainAgent: fc.boolean(),
  runsFromRoot: fc.boolean(),
})

test('M4 from wherever migrate may begin its steps end MOVED, by transitions of the table alone', () => {
  const begun = new Set<HostRootState>()
  fc.assert(
    fc.property(anySigns, (start) => {
      const first = hostRootState(start)
      if (!migratable.some(({ state }) => state === first)) return
      begun.add(first)
      let signs = start
      for (let steps = 0; steps < 8; steps += 1) {
        const { state, migrate, leadsTo } = hostRootRow(hostRootState(signs))
        if (migrate === 'done' || migrate === 'nothing' || migrate === 'refuse') break
        signs = { ...signs, ...after[migrate] }
        expect(leadsTo, `${state} by ${migrate}`).toContain(hostRootState(signs))
      }
      const ends = first === 'LINK-ORPHAN' ? ['ABSENT', 'LEGACY-PLAIN'] : ['MOVED']
      expect(ends, `from ${first}`).toContain(hostRootState(signs))
    }),
    { numRuns: 3000 },
  )
  expect([...begun].sort()).toEqual(migratable.map(({ state }) => state).sort())
})

test('M4 where migrate does nothing the table says what a person can do, and nowhere else', () => {
  for (const { state, migrate, remedy } of hostRootTable)
    expect(remedy !== null, state).toBe(migrate === 'refuse' || migrate === 'nothing')
})

test.each(hostRootTable)('M4 $state has a meaning and a way back in whole sentences', ({ means, goBack, remedy }) => {
  for (const text of [means, goBack, ...(remedy === null ? [] : [remedy])]) expect(text).toMatch(/^\S[^|\n]*\.$/)
})

describe('what may switch the agent (domain.md 6.6)', () => {
  test('exactly the states whose files are known to be those that the agent runs from', () => {
    const roots = Object.fromEntries(hostRootStates.map((state) => [state, settledRoot(state)]))
    expect(roots).toEqual({
      ...Object.fromEntries(hostRootStates.map((state) => [state, null])),
      LEGACY,
      'LEGACY-PLAIN': LEGACY,
      LINKED: LEGACY,
      MOVED: ROOT,
    })
  })

  test('the half-moved states are those of a move that goes on', () => {
    expect(hostRootStates.filter(isHalfMoved)).toEqual(['STAGING', 'MOVING-1', 'MOVING-2', 'SWAP-GAP'])
  })

  const refused = hostRootTable.filter(({ switches }) => !switches).map(({ state }) => state)
  test.each(refused)('%s is refused with its name, or what it is, and a remedy', (state) => {
    const { code, message, remedy } = unsettledRoot(
      viewOf(hostState({ paths: { [ROOT]: { link: '/data/x' } } })),
      state,
    )
    expect(code).toBe(
      isHalfMoved(state) || state === 'CONFLICT'
        ? 'move-unfinished'
        : state === 'UNREADABLE'
          ? 'inspect-failed'
          : 'layout-unknown',
    )
    expect(message).toContain(state === 'OPERATOR-LINK' ? '/data/x' : state)
    expect(remedy).toMatch(/\S/)
    expect(remedy.includes('drover run migrate')).toBe(isHalfMoved(state))
  })
})
