import { unitDirectories } from '../../facts/unit.ts'
import { agentUnit, machinesTarget, recoveryUnit } from './names.ts'

/** Where the agent's files lie: the new root and the one older releases used (domain.md 1.1). */
export const ROOT = '/opt/unbounded/agent'
export const LEGACY = '/usr/local'
export const hostRoots = [ROOT, LEGACY] as const
export type HostRoot = (typeof hostRoots)[number]

const slots = ['blue', 'green', 'current', 'last-good'] as const
export type LayoutEntry = (typeof slots)[number]

export const libraryDirectory = (root: HostRoot): string => `${root}/lib/aks-flex-node`
export const layoutEntry = (root: HostRoot, entry: LayoutEntry): string =>
  `${libraryDirectory(root)}/aks-flex-node-${entry}`
/** Any of these makes a root an installation; a plain binary alone does not (domain.md 1.1). */
export const layoutMarkers = (root: HostRoot): readonly string[] => slots.map((slot) => layoutEntry(root, slot))
export const agentBinary = (root: HostRoot): string => `${root}/bin/aks-flex-node`
/** The agent's binary inside a worker: what the kubelet there asks for credentials (domain.md 1.4). */
export const machineBinary = (machine: string): string => `/var/lib/machines/${machine}/usr/local/bin/aks-flex-node`
/** A copy of the binary that the worker's hooks run, which no rollback switches (domain.md 1.1). */
export const lifecycleHelper = (root: HostRoot): string => `${root}/bin/unbounded-agent-nspawn-lifecycle`
export const recoveryScript = (root: HostRoot): string => `${libraryDirectory(root)}/aks-flex-node-recovery.sh`

/** Artefacts of the move between the roots (domain.md 1.2). */
export const stagingRoot = `${ROOT}.staging`
export const movingMark = `${ROOT}/.moving`
export const hostRootAgents = '/etc/aks-flex-node/host-root-agents'

/** Configuration, state and the activation lock never move (domain.md 1.3). */
export const configDirectory = '/etc/aks-flex-node'
export const configFile = `${configDirectory}/config.json`
export const daemonStateFile = `${configDirectory}/daemon-state.json`
export const daemonStateChecksum = `${daemonStateFile}.sha256`
export const upgradeSignalFile = `${configDirectory}/agent-upgrade-signal.json`
export const activationLock = '/run/aks-flex-node-agent-upgrade.lock'
export const credentialsDirectory = `${configDirectory}/credentials`
export const firstBootDirectory = `${configDirectory}/first-boot`

/** Units stay in /etc always (domain.md 1.4). */
export const unitDirectory = '/etc/systemd/system'
export const agentUnitFile = `${unitDirectory}/${agentUnit}`
export const recoveryUnitFile = `${unitDirectory}/${recoveryUnit}`
/** Rule W1: the agent rewrites its own unit at every start, and does not know this file. */
const dropInDirectory = `${agentUnitFile}.d`
export const dropInFile = `${dropInDirectory}/50-drover-machines-target.conf`

export const unitPath = unitDirectories
/** Where a link outlives a reboot. */
export const persistentUnitPath = unitPath.filter((place) => !place.startsWith('/run/'))
export const wantsDirectory = (place: string, unit = machinesTarget): string => `${place}/${unit}.wants`
