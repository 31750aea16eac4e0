import type { Task } from './task.ts'

/** Every task, by name. A new one is one file, one test and one line here. */
const all: readonly Task<never>[] = []

export const tasks: ReadonlyMap<string, Task<unknown>> = new Map(all.map((task) => [task.name, task as unknown as Task<unknown>]))
