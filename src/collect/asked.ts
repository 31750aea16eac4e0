import {
  agentUnit,
  bootstrapUnit,
  containerdUnit,
  machines,
  machinesTarget,
  recoveryUnit,
  workerUnits,
} from '../tasks/agent/names.ts'
import {
  agentBinary,
  configDirectory,
  hostRoots,
  LEGACY,
  layoutMarkers,
  libraryDirectory,
  lifecycleHelper,
  machineBinary,
  ROOT,
  recoveryScript,
  stagingRoot,
  unitDirectory,
} from '../tasks/agent/paths.ts'

/** What machines.target starts a worker through (domain.md 3.5, 3.6), and what the container variant needs. */
export const hookUnits: readonly string[] = [
  machinesTarget,
  ...machines.map((machine) => `unbounded-agent-regenerate-config@${machine}.service`),
  'nftables-flush.service',
  'unbounded-localdns-network.service',
  'static-routes.service',
  'check-route-overlap.service',
  containerdUnit,
]

/** Not drover's own: asking for a transient unit that is gone makes systemd complain in the journal. */
export const units: readonly string[] = [agentUnit, recoveryUnit, bootstrapUnit, ...workerUnits, ...hookUnits]

/** For a list: these and nothing else of the host. */
export const unitPatterns = ['aks-flex-node*', 'unbounded-*', 'systemd-nspawn@*', machinesTarget, 'drover*'] as const

/** Where names, modes and links are listed, and how many levels deep: beside the agent an operator may keep a lot. */
export const listed: readonly (readonly [depth: number, path: string])[] = [
  [1, '/opt/unbounded'],
  [3, ROOT],
  [3, stagingRoot],
  [0, LEGACY],
  [0, `${LEGACY}/bin`],
  [0, agentBinary(LEGACY)],
  [0, lifecycleHelper(LEGACY)],
  [1, libraryDirectory(LEGACY)],
  [0, `${LEGACY}/libexec/unbounded-localdns-network`],
  [3, configDirectory],
  [3, '/etc/unbounded'],
  [1, '/etc/systemd/nspawn'],
  [2, unitDirectory],
  [1, '/var/lib/aks-flex-node'],
  [1, '/var/log/aks-flex-node'],
  [1, '/var/lib/machines'],
  [1, '/run/systemd/transient'],
  [3, '/run/drover'],
  [3, '/var/lib/drover'],
]

/** A worker holds a copy of the agent, which has to be the host's. */
export const binaries: readonly string[] = [
  ...hostRoots.flatMap((root) => [
    ...layoutMarkers(root),
    agentBinary(root),
    lifecycleHelper(root),
    recoveryScript(root),
  ]),
  ...machines.map(machineBinary),
]

export const roomAt = ['/', '/opt/unbounded', LEGACY, '/etc', '/var', '/var/lib/machines', '/run', '/tmp'] as const

/** Lines for people. Not what runs leave in their directories: that may hold content of files. */
export const droverMarks = [
  '/run/drover/lease',
  '/var/lib/drover/armed/owner',
  '/var/lib/drover/undoing/owner',
  '/var/lib/drover/rolled-back',
] as const
