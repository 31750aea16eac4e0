import { machinesTargetWired } from './machines-target-wired.ts'
import type { Task } from './task.ts'
import { workerRunning } from './worker-running.ts'

/** Every task, by name. A new one is one file, one test and one line here. */
const all: readonly Task[] = [machinesTargetWired, workerRunning]

export const tasks: ReadonlyMap<string, Task> = new Map(all.map((task) => [task.name, task]))
