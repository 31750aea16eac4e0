import { apiServerReachable } from './api-server.ts'
import type { Check } from './check.ts'
import { localDnsConntrack } from './conntrack.ts'
import { configReadable, deploymentNotes } from './deployment.ts'
import { existingDeployment } from './existing-deployment.ts'
import { hostPackages } from './host-packages.ts'
import { installDirectoryExecutable } from './install-directory.ts'
import { machinesTargetState } from './machines-target.ts'
import { artefacts, goalState } from './not-run.ts'
import { nspawnRuntime } from './nspawn-runtime.ts'
import { osConfiguration } from './os-configuration.ts'
import { containerdMetricsPort, kubeletPort } from './ports.ts'
import { privilege } from './privilege.ts'
import { machineProvisioning } from './provisioning.ts'
import { cgroups, diskSpace } from './resources.ts'
import { containerdInactive, dockerInactive, kubeletInactive } from './services.ts'
import { swapInactive } from './swap.ts'

/** In the order of the agent's own report: the host, the start of the node, its root file system, the rest. */
export const checks: readonly Check[] = [
  privilege,
  existingDeployment,
  hostPackages,
  osConfiguration,
  installDirectoryExecutable,
  nspawnRuntime,
  dockerInactive,
  containerdInactive,
  kubeletInactive,
  swapInactive,
  diskSpace,
  cgroups,
  localDnsConntrack,
  machinesTargetState,
  goalState,
  apiServerReachable,
  kubeletPort,
  containerdMetricsPort,
  machineProvisioning,
  ...artefacts,
  configReadable,
  deploymentNotes,
]
