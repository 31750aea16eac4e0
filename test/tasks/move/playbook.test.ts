import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { type HostRootState, hostRootState } from '../../../src/tasks/agent/host-root.ts'
import { hostRootSigns } from '../../../src/tasks/agent/host-root-signs.ts'
import { LEGACY, ROOT, stagingRoot } from '../../../src/tasks/agent/paths.ts'
import { layoutFiles } from '../../../src/tasks/move/files.ts'
import { isWhole } from '../../../src/tasks/move/movable.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import type { HostLiteral } from '../host-state.ts'
import {
  agent,
  agentsFile,
  entry,
  helperOf,
  legacy,
  linked,
  localDns,
  localDnsOf,
  moving1,
  moving2,
  override,
  regenerate,
  running,
  stagingHost,
  swapGap,
} from './moving.ts'
import { type AgentKind, carryOut, hostFor } from './simulated.ts'

const migrate = shippedPlay('migrate', { host_root_since: 'v0.3.0' })
const rootState = (state: Parameters<typeof viewOf>[0]): HostRootState => hostRootState(hostRootSigns(viewOf(state)))

const kinds: readonly AgentKind[] = ['finishes the move', 'holds, and finishes nothing']
const stopped = { units: { [agent]: running('inactive', LEGACY, LEGACY) } }
const begins: Readonly<Record<string, HostLiteral>> = {
  LEGACY: legacy(),
  'LEGACY, stopped': legacy(stopped),
  LINKED: linked(),
  STAGING: stagingHost(),
  'SWAP-GAP': swapGap(),
  'MOVING-1': moving1({}, 900_000),
  'MOVING-2': moving2({}, 900_000),
}
const cases = Object.entries(begins).flatMap(([begin, host]) => kinds.map((kind) => ({ begin, host, kind })))

const expectMoved = (state: Parameters<typeof viewOf>[0]): void => {
  expect(rootState(state)).toBe('MOVED')
  const view = viewOf(state)
  expect(isWhole(view, ROOT)).toBe(true)
  for (const path of [...layoutFiles(LEGACY), `${LEGACY}/lib/aks-flex-node`, stagingRoot, agentsFile])
    expect(view.node(path), path).toEqual({ type: 'absent' })
  expect(view.text('/etc/systemd/system/aks-flex-node-agent.service')).toContain(`ExecStart=${entry(ROOT, 'current')} `)
  expect(view.unit(agent).get('ExecStart')).toContain(entry(ROOT, 'current'))
  expect(view.text(override)).toContain(`ExecStartPost=-${helperOf(ROOT)} `)
  expect(view.text(regenerate)).toContain(helperOf(ROOT))
  expect(view.text(localDns)).toContain(localDnsOf(ROOT))
}

test.each(cases)(
  '28: a run from $begin ends MOVED, and a second one finds nothing to do; the agent $kind',
  ({ host, kind }) => {
    const first = carryOut(migrate, hostFor(migrate, host), kind)
    expect(first.error).toBeUndefined()
    expectMoved(first.state)
    expect(carryOut(migrate, first.state, kind)).toMatchObject({ made: 0 })
  },
)

test.each(cases)(
  '30: cut after any change of a run from $begin, an installation is whole and the next run ends MOVED; the agent $kind',
  ({ host, kind }) => {
    const start = hostFor(migrate, host)
    const { made } = carryOut(migrate, start, kind)
    expect(made).toBeGreaterThan(3)
    for (let limit = 0; limit < made; limit += 1) {
      const cut = carryOut(migrate, start, kind, limit)
      expect(cut.made).toBe(limit)
      const view = viewOf(cut.state)
      expect([ROOT, LEGACY].some((root) => isWhole(view, root as typeof ROOT))).toBe(true)
      const again = carryOut(migrate, cut.state, kind)
      expect(again.error, `cut after ${limit}`).toBeUndefined()
      expectMoved(again.state)
    }
  },
)

test('--stop-at link ends LINKED, and unlink leads back', () => {
  const link = shippedPlay('migrate', { stop_at: 'link' })
  const there = carryOut(link, hostFor(link, legacy()), 'finishes the move')
  expect(there.error).toBeUndefined()
  expect(rootState(there.state)).toBe('LINKED')
  const unlink = shippedPlay('unlink', {})
  const back = carryOut(unlink, hostFor(unlink, linked()), 'finishes the move')
  expect(back.error).toBeUndefined()
  expect(rootState(back.state)).toBe('LEGACY')
})

test('U9 a host that is not ready is not even linked, and says how to link it', () => {
  const older = { versions: { [entry(LEGACY, 'current')]: 'v0.2.0' } }
  const play = shippedPlay('migrate', { host_root_since: 'v0.5.0' })
  expect(carryOut(play, hostFor(play, legacy(older)), 'finishes the move')).toMatchObject({
    made: 0,
    error: expect.stringContaining('move-not-ready'),
  })
})
