import { z } from 'zod'
import type { Tasks } from '../../src/runner/plan.ts'
import { Secret } from '../../src/secret.ts'
import { blocked, planned, satisfied, type Task } from '../../src/tasks/task.ts'

const noExample = { summary: 'For tests.', example: '' }

const satisfiedTask: Task<Record<never, never>> = {
  name: 'as-it-is',
  ...noExample,
  params: z.strictObject({}),
  facts: () => [],
  plan: () => satisfied(),
}

const fileParams = z.strictObject({
  path: z.string(),
  content: z.union([z.string(), z.instanceof(Secret)]).default(''),
})

const fileTask: Task<z.infer<typeof fileParams>> = {
  name: 'file-present',
  ...noExample,
  params: fileParams,
  facts: ({ path }) => [{ kind: 'path', path }],
  plan: (view, { path, content }) =>
    view.node(path).type === 'absent'
      ? planned([{ kind: 'write', path, content, mode: 0o600, owner: 'root:root' }])
      : satisfied(),
}

const blockedTask: Task<Record<never, never>> = {
  name: 'never-possible',
  ...noExample,
  params: z.strictObject({}),
  facts: () => [],
  plan: () => blocked({ code: 'precondition-unmet', message: 'It cannot be.', remedy: 'Want something else.' }),
}

const listed: readonly Task[] = [satisfiedTask, fileTask, blockedTask] as unknown as readonly Task[]

export const testTasks: Tasks = new Map(listed.map((task) => [task.name, task]))

export const playbook = (...steps: readonly string[]): string =>
  `name: test\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`
