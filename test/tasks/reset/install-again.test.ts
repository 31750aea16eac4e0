import { expect, test } from 'vitest'
import { mergeFacts } from '../../../src/facts/fact.ts'
import { questionOf } from '../../../src/runner/converge.ts'
import { planHost } from '../../../src/runner/plan.ts'
import { LEGACY, layoutEntry, ROOT } from '../../../src/tasks/agent/paths.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { shippedPlay } from '../../playbook/shipped.ts'
import { withToken } from '../config/valid.ts'
import type { HostLiteral } from '../host-state.ts'
import { hostState } from '../host-state.ts'
import * as install from '../install/simulated.ts'
import { digest } from '../switch/release.ts'
import { hosts, type ResetState } from './hosts.ts'
import { carryOut, seen } from './simulated.ts'

const base: HostLiteral = {
  paths: { '/etc/sysctl.d': { dir: true }, '/sys/fs/cgroup': { dir: true }, '/usr/local/bin': { dir: true } },
  programs: Object.fromEntries(
    ['systemctl', 'machinectl', 'systemd-nspawn', 'curl', 'nft', 'mountpoint'].map((name) => [
      name,
      `/usr/bin/${name}`,
    ]),
  ),
  packages: { 'systemd-container': '252', curl: '8', nftables: '1', 'util-linux': '2' },
  probes: { swap: 'swap=none\n', conntrack: 'localdns=off\n', 'api-server': 'config=missing\n' },
}

const agent = {
  version: 'v0.5.0',
  hostRootSince: 'v0.3.0',
  amd64: { file: '/releases/aks-flex-node', sha256: digest('newest') },
}

const installAfterReset = async (name: ResetState) => {
  const reset = shippedPlay('reset', {})
  const installing = await install.installPlay({ agent, config: withToken })
  const host = hosts[name]()
  const literal = {
    ...host,
    ...base,
    paths: { ...base.paths, ...host.paths },
    probes: { ...base.probes, ...host.probes },
  }
  const asked = mergeFacts([...questionOf(reset, tasks).facts, ...questionOf(installing, tasks).facts])
  const gone = carryOut(reset, seen(hostState(literal, asked)))
  expect(gone.error).toBeUndefined()
  const kept = install.withAnswers(gone.state)
  const refused = planHost(installing, tasks, kept).steps.find(({ error }) => error !== undefined)
  return { ...install.carryOut(installing, kept), remedy: refused?.error?.remedy }
}

test.each<[state: ResetState, root: typeof ROOT | typeof LEGACY]>([
  ['MOVED', ROOT],
  ['LEGACY', LEGACY],
  ['LINKED', LEGACY],
])('M1, 11.21 after a reset of a host that is %s an install finds the layout and goes there', async (name, root) => {
  const end = await installAfterReset(name)
  expect(end.error).toBeUndefined()
  expect(end.changes.length).toBeGreaterThan(5)
  expect(install.unitOf(end.state)).toMatchObject({
    active: 'active',
    file: 'enabled',
    exe: layoutEntry(root, 'green'),
  })
})

test.each<[state: ResetState, way: RegExp]>([
  ['MOVING-1', /drover run uninstall/],
  ['MOVING-2', /drover run uninstall/],
  ['CONFLICT', /drover run uninstall/],
  ['STAGING', /drover run unlink/],
  ['SWAP-GAP', /drover run unlink/],
])('M1 an install onto what a reset kept of a host that was %s is refused with the way out', async (name, way) => {
  const end = await installAfterReset(name)
  expect(end.error).toMatch(/^move-unfinished/)
  expect(end.remedy).toMatch(way)
})
