import type { Change } from '../../changes/change.ts'
import type { Fact } from '../../facts/fact.ts'
import { containerdUnit, machines, machinesTarget, workerUnits } from '../agent/names.ts'
import { agentBinary, configFile, daemonStateFile, type HostRoot, wantsDirectory } from '../agent/paths.ts'
import { writtenByStart } from './start.ts'

export const joinFacts = (): Fact[] => workerUnits.map((name) => ({ kind: 'unit', name }))

/** Everything that domain.md 2.4 and 1.4 say it writes, starts or stops, packages among it. */
const touched: readonly string[] = [
  ...writtenByStart,
  'path:/etc/systemd/system',
  'path:/etc/systemd/nspawn',
  'path:/etc/unbounded',
  'path:/etc/sysctl.d',
  'path:/etc/apt/apt.conf.d',
  'path:/etc/needrestart',
  'path:/etc/fstab',
  'path:/opt/unbounded',
  'path:/usr/local/bin',
  'path:/usr/local/lib',
  'path:/usr/local/libexec',
  'path:/var/lib/machines',
  'path:/var/lib/unbounded',
  'path:/run/systemd/machines',
  ...machines.map((machine) => `path:/run/bpffs/${machine}`),
  `path:${wantsDirectory('/etc/systemd/system')}`,
  ...[...workerUnits, machinesTarget, containerdUnit, 'docker.service', 'kubelet.service'].map(
    (unit) => `unit:${unit}`,
  ),
  ...['systemd-container', 'curl', 'nftables', 'util-linux'].map((name) => `package:${name}`),
  ...['systemd-nspawn', 'machinectl', 'curl', 'nft', 'mountpoint'].map((name) => `program:${name}`),
  'port:10250',
  'port:10257',
  'probe:["swap"]',
]

/**
 * No lock is held meanwhile: the agent takes the activation lock itself (M5). Stopped half-way it ends with 0 as well, so
 * what it has to leave is looked for.
 */
export const joinChanges = (root: HostRoot, timeoutS: number): Change[] => [
  {
    kind: 'run',
    argv: [agentBinary(root), 'start', '--config', configFile],
    timeoutMs: timeoutS * 1000,
    spoils: touched,
  },
  {
    kind: 'await',
    condition: { command: ['test', '-s', daemonStateFile], is: 'succeeding', timeoutS: 5 },
    withinMs: 0,
    stableMs: 0,
    failure: {
      code: 'agent-unhealthy',
      message: `The agent's own \`start\` ended, and ${daemonStateFile} is not there: the host has not joined.`,
      remedy: `Somebody stopped it, or it gave up without a word: see /var/log/aks-flex-node on the host. Run again to have it go on.`,
    },
  },
]
