import { agentUnit, bootstrapUnit, type Machine, machines, recoveryUnit, workerUnit } from '../agent/names.ts'
import {
  configDirectory,
  dropInFile,
  type HostRoot,
  lifecycleHelper,
  recoveryScript,
  unitDirectory,
  wantsDirectory,
} from '../agent/paths.ts'
import { localDnsHelper } from '../move/files.ts'

/** All that an agent has put on a host and a reset removes, by name (domain.md 8.1). */

const localDnsUnit = 'unbounded-localdns-network.service'
export const localDnsInterface = 'localdns'
export const localDnsTable = 'unbounded_localdns'
const regenerateUnit = (machine: Machine): string => `unbounded-agent-regenerate-config@${machine}.service`

/** Whatever brings an agent back comes first, and what the workers need after them. */
export const units: readonly string[] = [
  bootstrapUnit,
  recoveryUnit,
  agentUnit,
  ...machines.map(workerUnit),
  ...machines.map(regenerateUnit),
  localDnsUnit,
]

export const unitFileOf = (unit: string): string => `${unitDirectory}/${unit}`

/** Those whose file the agent or its provisioning wrote: a worker's own is its package's template. */
export const unitFiles: readonly string[] = units
  .filter((unit) => !machines.some((machine) => workerUnit(machine) === unit))
  .map(unitFileOf)

/** Where a link would start a unit at boot although nobody knows the unit any more. */
export const wantsLinks = (unit: string): readonly string[] =>
  ['multi-user.target', 'machines.target'].map((target) => `${wantsDirectory(unitDirectory, target)}/${unit}`)

/** Rule W1: the agent knows neither the file nor its directory. */
export const dropIn = dropInFile

export const workerDropIns: readonly string[] = machines.map((machine) => `${unitFileOf(workerUnit(machine))}.d`)
export const nspawnFiles: readonly string[] = machines.map((machine) => `/etc/systemd/nspawn/${machine}.nspawn`)
export const machineDirectories: readonly string[] = machines.map((machine) => `/var/lib/machines/${machine}`)
export const lifecycleStates: readonly string[] = machines.map(
  (machine) => `/etc/unbounded/agent/${machine}-nspawn-lifecycle.json`,
)

/** What the units run, below one root. */
export const scriptsBelow = (root: HostRoot): readonly string[] => [
  recoveryScript(root),
  lifecycleHelper(root),
  localDnsHelper(root),
]

export const logDirectory = '/var/log/aks-flex-node'
export const bpffs = '/run/bpffs'

/** Directories that go with all that is in them. */
export const trees: readonly string[] = [...workerDropIns, ...machineDirectories, configDirectory, logDirectory]

/** What the agent's own reset removes whatever its release: as long as any is there, it has something to do. */
export const signsOfDeployment: readonly string[] = [
  unitFileOf(agentUnit),
  unitFileOf(recoveryUnit),
  ...workerDropIns,
  ...nspawnFiles,
  ...machineDirectories,
  configDirectory,
]

/** Units that only a configuration with host routes brings; their scripts lie in the agent's directory (O-14). */
export const hostRouteUnits = ['static-routes.service', 'check-route-overlap.service'] as const

export const hostRouteLinks = (unit: string): readonly string[] => [
  `${unitDirectory}/systemd-nspawn@.service.requires/${unit}`,
]
