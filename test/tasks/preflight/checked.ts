import { viewOf } from '../../../src/facts/view.ts'
import type { Host } from '../../../src/inventory/host.ts'
import { preflightChecked } from '../../../src/tasks/preflight-checked.ts'
import type { Finding, Planned } from '../../../src/tasks/task.ts'
import { aHost } from '../deployed.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

const tools = Object.fromEntries(
  ['systemctl', 'machinectl', 'systemd-nspawn', 'curl', 'nft', 'mountpoint'].map((name) => [name, `/usr/bin/${name}`]),
)

/** A fresh host on which all is well: what a test changes in it is its subject. */
export const freshHost = (changes: HostLiteral = {}): HostLiteral => ({
  ...changes,
  units: { 'machines.target': { UnitFileState: 'enabled' }, ...changes.units },
  paths: {
    '/etc/sysctl.d': { dir: true },
    '/etc/systemd/system': { dir: true },
    '/sys/fs/cgroup': { dir: true },
    ...changes.paths,
  },
  programs: { ...tools, ...changes.programs },
  probes: {
    swap: 'swap=none\n',
    conntrack: 'nft=present\nnotrack=ok\n',
    'api-server': 'config=missing\n',
    'selinux-denials': 'source=journal\ndenials=0\nreset_failed=0\n',
    ...changes.probes,
  },
})

export const check = (literal: HostLiteral, given: unknown = {}, host: Host = aHost()): Planned => {
  const params = preflightChecked.params.parse(given)
  return preflightChecked.plan(viewOf(hostState(literal, preflightChecked.facts(params, host))), params, host)
}

export const findingsOf = (literal: HostLiteral, name: string, host: Host = aHost()): readonly Finding[] =>
  (check(literal, {}, host).findings ?? []).filter((finding) => finding.check === name)
