import { expect } from 'vitest'
import type { HostState } from '../../../src/facts/state.ts'
import { viewOf } from '../../../src/facts/view.ts'
import type { Vars } from '../../../src/inventory/host.ts'
import { hostRoots, movingMark, ROOT, stagingRoot } from '../../../src/tasks/agent/paths.ts'
import { scriptsBelow, signsOfDeployment, unitFiles, units, wantsLinks } from '../../../src/tasks/reset/belongings.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import type { HostLiteral } from '../host-state.ts'
import { layoutNames, type ResetState, rootsOf } from './hosts.ts'
import { carryOut, type Ending, hostFor, isThere } from './simulated.ts'

/** What is asked of a host before and after a reset. */

export const runReset = (
  host: HostLiteral,
  vars: Vars = {},
  options: Parameters<typeof carryOut>[2] = {},
  playbook = 'reset',
): Ending => {
  const play = shippedPlay(playbook, vars)
  return carryOut(play, hostFor(play, host), options)
}

/** Each of these is there on a whole host, as the tests see first. */
const belongings: readonly string[] = [
  ...signsOfDeployment,
  ...unitFiles,
  ...units.flatMap(wantsLinks),
  ...hostRoots.flatMap(scriptsBelow),
  '/etc/systemd/system/aks-flex-node-agent.service.d',
  '/etc/unbounded/agent/kube1-nspawn-lifecycle.json',
  '/var/log/aks-flex-node',
]

export const belongingsOn = (state: HostState): string[] => belongings.filter((path) => isThere(state, path))

export const expectGone = (state: HostState): void => {
  expect(belongingsOn(state)).toEqual([])
  for (const unit of units) expect(viewOf(state).unit(unit).get('ActiveState'), unit).not.toBe('active')
  expect(viewOf(state).probe('network-left').stdout).not.toMatch(/table=present|localdns/)
}

const keptByReset = [
  ROOT,
  movingMark,
  stagingRoot,
  '/opt/unbounded',
  '/opt/unbounded/artifacts',
  '/var/lib/aks-flex-node/state',
  '/etc/systemd/system/nftables-flush.service',
]

/** domain.md 8.3. */
export const expectKept = (before: HostState, after: HostState, name: ResetState): void => {
  const layout = rootsOf[name].flatMap((root) => layoutNames.map((file) => `${root}/${file}`))
  expect(layout.filter((path) => !isThere(after, path))).toEqual([])
  for (const path of keptByReset) expect(isThere(after, path), path).toBe(isThere(before, path))
}
