import { DroverError } from '../errors.ts'
import type { Vars } from '../inventory/host.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { LogOptions } from './log.ts'
import type { ConnectionOptions, InventoryOptions } from './sources.ts'

export interface RunOptions extends InventoryOptions, ConnectionOptions, LogOptions {
  readonly forks: number
  readonly check?: true
  readonly diff?: true
  readonly extraVars?: readonly string[]
  readonly yes?: true
  readonly reason?: string
  readonly ignorePreflightErrors?: readonly string[]
  readonly failOnWarnings?: true
  readonly allowStart?: readonly string[]
  readonly detailedExitcode?: true
  readonly runsDir: string
  readonly output: 'text' | 'json'
}

/** Options that are short for a variable of the playbook. They stand above -e. */
const variableOptions = [
  {
    flag: '--ignore-preflight-errors',
    name: 'ignore_preflight_errors',
    value: (options: RunOptions) => options.ignorePreflightErrors,
  },
  { flag: '--fail-on-warnings', name: 'fail_on_warnings', value: (options: RunOptions) => options.failOnWarnings },
  { flag: '--allow-start', name: 'allow_start', value: (options: RunOptions) => options.allowStart },
] as const

export const optionVars = (options: RunOptions): Vars =>
  Object.fromEntries(
    variableOptions
      .flatMap(({ name, value }) => [[name, value(options)] as const])
      .filter(([, value]) => value !== undefined),
  ) as Vars

/** An option that the playbook would never look at is refused: it would pass for granted and do nothing. */
export const refuseIdle = (options: RunOptions, playbook: Playbook): void => {
  const { steps, vars, defaults } = playbook
  const text = JSON.stringify([steps.map((step) => step.with), vars, defaults])
  const isUsed = (name: string): boolean => text.includes(`\${${name}}`) || text.includes(`\${${name}.`)
  const idle = variableOptions.filter(({ name, value }) => value(options) !== undefined && !isUsed(name))
  const [first] = idle
  if (first === undefined) return
  throw new DroverError({
    code: 'usage',
    message: `The playbook ${playbook.name} has no use for ${idle.map(({ flag }) => flag).join(' and ')}.`,
    remedy: `Leave it out, or let a step of ${playbook.file} use the variable ${first.name}.`,
  })
}
