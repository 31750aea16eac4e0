import { z } from 'zod'
import type { InputFault } from '../../src/errors.ts'
import { InputError } from '../../src/errors.ts'
import type { Group, Host, Inventory, Vars } from '../../src/inventory/host.ts'
import { hostPlays } from '../../src/playbook/host-plays.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import type { HostPlay, Playbook } from '../../src/playbook/playbook.ts'
import { Secret } from '../../src/secret.ts'
import type { Task } from '../../src/tasks/task.ts'
import { satisfied } from '../../src/tasks/task.ts'
import { fakeHost } from '../transport/fake-host.ts'

const task = <P>(name: string, params: z.ZodType<P>): Task<P> => ({
  name,
  summary: '',
  params,
  example: '',
  facts: () => [],
  plan: () => satisfied(),
})

/** How often a schema was asked, since equal parameters are to be parsed once. */
export const asked = { worker: 0 }

const worker = task(
  'worker-running',
  z.strictObject({ stable_s: z.int().min(1).default(45), names: z.array(z.string()).default([]) }).refine(() => {
    asked.worker += 1
    return true
  }),
)

const file = task(
  'file-present',
  // Deliberately not strict: drover makes it so.
  z.object({
    path: z.string().startsWith('/'),
    content: z.union([z.string(), z.instanceof(Secret)]),
    mode: z.string().optional(),
  }),
)

const anything = task('anything', z.looseObject({}))

export const tasks: ReadonlyMap<string, Task<never> | Task> = new Map<string, Task<never> | Task>(
  [worker, file, anything].map((one) => [one.name, one as Task<never>]),
)

export const shippedDir = '/shipped'

export const filesOf =
  (files: Readonly<Record<string, string | Uint8Array>>) =>
  (path: string): Uint8Array => {
    const content = files[path]
    if (content === undefined) throw Object.assign(new Error('none'), { code: 'ENOENT' })
    return typeof content === 'string' ? new TextEncoder().encode(content) : content
  }

export const load = (text: string): Playbook =>
  loadPlaybook('p.yaml', { shippedDir, cwd: '/here', tasks, readFile: filesOf({ '/here/p.yaml': text }) })

export const hostOf = (name: string, changes: Partial<Host> = {}): Host => fakeHost({ name, user: 'core', ...changes })

const inventoryOf = (hosts: readonly Host[]): Inventory => {
  const names = new Set(hosts.flatMap(({ groups }) => groups))
  const groups = [...names].map(
    (name): Group => ({
      name,
      hosts: hosts.filter((host) => host.groups.includes(name)).map((host) => host.name),
      children: [],
      vars: {},
    }),
  )
  return { sources: ['inventory.yaml'], hosts, groups }
}

export interface World {
  readonly hosts?: readonly Host[]
  readonly limit?: readonly string[]
  readonly extraVars?: Vars
  readonly env?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

export const playsOf = (
  playbook: Playbook,
  { hosts = [hostOf('a')], limit, extraVars = {}, env = {}, files = {} }: World = {},
): HostPlay[] =>
  hostPlays({
    playbook,
    inventory: inventoryOf(hosts),
    hosts: limit === undefined ? hosts : hosts.filter(({ name }) => limit.includes(name)),
    tasks,
    extraVars,
    cwd: '/here',
    secrets: { env, readFile: filesOf(files), runProgram: noProgram },
  })

/** No test's playbook runs a program unless it says so. */
export const noProgram = (): never => {
  throw new Error('no program is to be run')
}

/** The error of something that must fail with faults. */
export const inputError = (action: () => unknown): InputError => {
  try {
    action()
  } catch (thrown) {
    if (thrown instanceof InputError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

export const places = (faults: readonly InputFault[]): string[] =>
  faults.map(({ file: name, line, column, message, remedy }) => `${name}:${line}:${column} ${message} | ${remedy}`)
