import { agentConfigPresent } from './agent-config-present.ts'
import { agentConfigured } from './agent-configured.ts'
import { agentHealthy } from './agent-healthy.ts'
import { agentInstalled } from './agent-installed.ts'
import { agentJoined } from './agent-joined.ts'
import { agentReset } from './agent-reset.ts'
import { agentRolledBack } from './agent-rolled-back.ts'
import { agentRunning } from './agent-running.ts'
import { agentStaged } from './agent-staged.ts'
import { agentStopped } from './agent-stopped.ts'
import { agentSwept } from './agent-swept.ts'
import { agentUninstalled } from './agent-uninstalled.ts'
import { agentUpgraded } from './agent-upgraded.ts'
import { firstBootRemoved } from './first-boot-removed.ts'
import { firstBootSecretsAbsent } from './first-boot-secrets-absent.ts'
import { command } from './general/command.ts'
import { directoryPresent } from './general/directory-present.ts'
import { filePresent } from './general/file-present.ts'
import { hostRebooted } from './general/host-rebooted.ts'
import { linkPresent } from './general/link-present.ts'
import { packagePresent } from './general/package-present.ts'
import { pathAbsent } from './general/path-absent.ts'
import { unitEnabled } from './general/unit-enabled.ts'
import { unitRunning } from './general/unit-running.ts'
import { healthReported } from './health-reported.ts'
import { hostPackagesInstalled } from './host-packages-installed.ts'
import { hostRootAwaited } from './host-root-awaited.ts'
import { hostRootLinked } from './host-root-linked.ts'
import { hostRootMoved } from './host-root-moved.ts'
import { hostRootSettled } from './host-root-settled.ts'
import { hostRootUnlinked } from './host-root-unlinked.ts'
import { machinesTargetWired } from './machines-target-wired.ts'
import { preflightChecked } from './preflight-checked.ts'
import { resetPossible } from './reset-possible.ts'
import { rollbackConfirmed } from './rollback-confirmed.ts'
import { rollbackFired } from './rollback-fired.ts'
import type { Task } from './task.ts'
import { workerRunning } from './worker-running.ts'

/** Every task, by name. A new one is one file, one test and one line here. */
const all: readonly Task[] = [
  agentConfigPresent,
  agentConfigured,
  agentHealthy,
  agentInstalled,
  agentJoined,
  agentReset,
  agentRolledBack,
  agentRunning,
  agentStaged,
  agentStopped,
  agentSwept,
  agentUninstalled,
  agentUpgraded,
  firstBootRemoved,
  firstBootSecretsAbsent,
  healthReported,
  hostPackagesInstalled,
  hostRootAwaited,
  hostRootLinked,
  hostRootMoved,
  hostRootSettled,
  hostRootUnlinked,
  machinesTargetWired,
  preflightChecked,
  resetPossible,
  rollbackConfirmed,
  rollbackFired,
  workerRunning,
  command,
  directoryPresent,
  filePresent,
  hostRebooted,
  linkPresent,
  packagePresent,
  pathAbsent,
  unitEnabled,
  unitRunning,
]

export const tasks: ReadonlyMap<string, Task> = new Map(all.map((task) => [task.name, task]))
