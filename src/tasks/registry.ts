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
import { machinesTargetWired } from './machines-target-wired.ts'
import { preflightChecked } from './preflight-checked.ts'
import type { Task } from './task.ts'
import { workerRunning } from './worker-running.ts'

/** Every task, by name. A new one is one file, one test and one line here. */
const all: readonly Task[] = [
  healthReported,
  machinesTargetWired,
  preflightChecked,
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
