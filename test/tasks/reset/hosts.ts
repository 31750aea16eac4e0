import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from '../host-state.ts'
import {
  installation,
  legacy,
  linked,
  localDns,
  movedHost,
  moving1,
  moving2,
  stagingHost,
  swapGap,
} from '../move/moving.ts'

/** Hosts with everything on them that an agent leaves, in every state of the host root. */

const bootstrap = 'aks-flex-node-bootstrap.service'
const inUnits = (name: string): string => `/etc/systemd/system/${name}`
const wants = (target: string, name: string): string => inUnits(`${target}.wants/${name}`)

const around: Record<string, PathLiteral> = {
  [inUnits(bootstrap)]: { file: '[Service]\nExecStart=/bin/bash /etc/aks-flex-node/first-boot/bootstrap.sh\n' },
  [wants('multi-user.target', bootstrap)]: { link: inUnits(bootstrap) },
  '/etc/aks-flex-node/first-boot/bootstrap.sh': { file: '#!/bin/bash\n', mode: 0o700 },
  [wants('multi-user.target', 'aks-flex-node-agent.service')]: { link: inUnits('aks-flex-node-agent.service') },
  [inUnits('aks-flex-node-agent.service.d/50-drover-machines-target.conf')]: {
    file: '[Unit]\nWants=machines.target\n',
  },
  [wants('multi-user.target', 'unbounded-localdns-network.service')]: { link: localDns },
  '/etc/systemd/nspawn/kube1.nspawn': { file: '[Exec]\n' },
  '/etc/unbounded/agent/kube1-nspawn-lifecycle.json': { file: '{}' },
  '/var/log/aks-flex-node/aks-flex-node.log': { file: 'said\n' },
  '/var/lib/aks-flex-node/state': { file: 'x' },
  [inUnits('nftables-flush.service')]: { file: '[Service]\nExecStart=nft\n' },
  '/opt/unbounded/artifacts': { dir: true, mode: 0o750 },
}

const units: Record<string, UnitLiteral> = {
  [bootstrap]: { ActiveState: 'active', SubState: 'exited', UnitFileState: 'enabled', Type: 'oneshot' },
  'unbounded-agent-regenerate-config@kube1.service': { UnitFileState: 'static' },
  'unbounded-localdns-network.service': { UnitFileState: 'enabled' },
}

export const network = 'table=present\ninterface=localdns\nwhole=yes\n'

const everything =
  (host: (changes: HostLiteral) => HostLiteral) =>
  (changes: HostLiteral = {}): HostLiteral =>
    host({
      ...changes,
      units: { ...units, ...changes.units },
      paths: { ...around, ...changes.paths },
      probes: { 'network-left': network, 'mounts-below': 'whole=yes\n', ...changes.probes },
      programs: { nft: '/usr/sbin/nft', ip: '/usr/sbin/ip' },
    })

const conflict = (changes: HostLiteral): HostLiteral =>
  legacy({ ...changes, paths: { [ROOT]: { dir: true }, ...installation(ROOT), ...changes.paths } })

export const operatorsPlace = '/srv/agent'
const operatorLink = (changes: HostLiteral): HostLiteral => {
  const moved = movedHost(changes)
  const elsewhere = Object.entries(moved.paths ?? {}).filter(([path]) => path !== ROOT && !path.startsWith(`${ROOT}/`))
  return {
    ...moved,
    paths: {
      ...Object.fromEntries(elsewhere),
      [ROOT]: { link: operatorsPlace },
      ...installation(ROOT, operatorsPlace),
    },
  }
}

export const hosts = {
  LEGACY: everything(legacy),
  LINKED: everything(linked),
  STAGING: everything(stagingHost),
  'SWAP-GAP': everything(swapGap),
  'MOVING-1': everything(moving1),
  'MOVING-2': everything(moving2),
  MOVED: everything(movedHost),
  CONFLICT: everything(conflict),
  'OPERATOR-LINK': everything(operatorLink),
} as const

export type ResetState = keyof typeof hosts
export const resetStates = Object.keys(hosts) as ResetState[]

/** By name, as far as it is below a root: what a reset keeps. */
export const layoutNames = [
  'lib/aks-flex-node/aks-flex-node-blue',
  'lib/aks-flex-node/aks-flex-node-current',
  'bin/aks-flex-node',
]
export const rootsOf: Readonly<Record<ResetState, readonly string[]>> = {
  LEGACY: [LEGACY],
  LINKED: [LEGACY, ROOT],
  STAGING: [LEGACY, ROOT],
  'SWAP-GAP': [LEGACY],
  'MOVING-1': [LEGACY, ROOT],
  'MOVING-2': [LEGACY, ROOT],
  MOVED: [ROOT],
  CONFLICT: [LEGACY, ROOT],
  'OPERATOR-LINK': [ROOT, operatorsPlace],
}
