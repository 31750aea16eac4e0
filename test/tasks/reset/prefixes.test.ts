import { describe, expect, test } from 'vitest'
import type { HostState } from '../../../src/facts/state.ts'
import { Unknown } from '../../../src/facts/unknown.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { configFile } from '../../../src/tasks/agent/paths.ts'
import { unitFileOf, unitFiles, units, wantsLinks } from '../../../src/tasks/reset/belongings.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import { hosts, resetStates } from './hosts.ts'
import { expectGone } from './looks.ts'
import { carryOut, hostFor, isOwnReset, isThere } from './simulated.ts'

const agent = 'aks-flex-node-agent.service'

/** The program or script that a unit's file names. */
const named = (state: HostState, unit: string): string | undefined => {
  if (!unitFiles.includes(unitFileOf(unit))) return undefined
  const view = viewOf(state)
  const node = view.node(unitFileOf(unit))
  if (node.type !== 'file' || node.content instanceof Unknown || node.content === undefined) return undefined
  return /^ExecStart=(?:\/bin\/bash )?(\/\S+)/m.exec(new TextDecoder().decode(node.content))?.[1]
}

/** What would start at the next boot, or by itself, finds all that it needs. */
const nothingHalf = (state: HostState): void => {
  for (const unit of units) {
    const isEnabled = wantsLinks(unit).some((path) => isThere(state, path))
    const active = state.units.get(unit)?.properties.ActiveState
    if (!isEnabled && active !== 'active') continue
    const file = unitFileOf(unit)
    if (unitFiles.includes(file))
      expect(isThere(state, file), `${unit} is enabled or runs, and has its file`).toBe(true)
    const program = named(state, unit)
    if (program !== undefined) expect(viewOf(state).target(program).type, `${unit} runs ${program}`).toBe('file')
    if (unit === agent) expect(isThere(state, configFile)).toBe(true)
    if (unit.startsWith('systemd-nspawn@kube1'))
      expect(isThere(state, '/var/lib/machines/kube1'), 'the enabled worker has its files').toBe(true)
  }
}

describe.each(resetStates)('11.49 %s', (name) => {
  test.each([{}, { agent_reset: false }])(
    'no prefix leaves a unit enabled or running whose file or program is gone: %j',
    (vars) => {
      const play = shippedPlay('reset', vars)
      let looked = 0
      const before = hostFor(play, hosts[name]())
      nothingHalf(before)
      const { error } = carryOut(play, before, {
        after: (state, change) => {
          looked += 1
          if (!isOwnReset(change)) nothingHalf(state)
        },
      })
      expect(error).toBeUndefined()
      expect(looked).toBeGreaterThan(10)
    },
  )

  test.each([{}, { agent_reset: false }])('a reset that was cut anywhere is ended by the next: %j', (vars) => {
    const play = shippedPlay('reset', vars)
    const before = hostFor(play, hosts[name]())
    const whole = carryOut(play, before).changes.length
    for (let limit = 1; limit < whole; limit += 1) {
      const cut = carryOut(play, before, { limit })
      expect(cut.changes).toHaveLength(limit)
      const next = carryOut(play, cut.state)
      expect(next.error, `cut after ${limit}`).toBeUndefined()
      expectGone(next.state)
    }
  })
})
