import { DroverError } from '../errors.ts'
import type { Inventory, Vars } from '../inventory/host.ts'
import { nearName } from '../inventory/near.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { type ConfirmOptions, confirmedVars } from './confirmation.ts'
import type { LogOptions } from './log.ts'
import type { ConnectionOptions, InventoryOptions } from './sources.ts'

export interface RunOptions extends InventoryOptions, ConnectionOptions, LogOptions, ConfirmOptions {
  readonly forks: number
  /** Seconds. */
  readonly timeout?: number
  readonly diff?: true
  readonly extraVars?: readonly string[]
  readonly reason?: string
  readonly ignorePreflightErrors?: readonly string[]
  readonly failOnWarnings?: true
  readonly allowStart?: readonly string[]
  readonly useOperatorLink?: true
  readonly forceSshInstall?: true
  readonly allowHostRootDowngrade?: true
  readonly stopAt?: 'link' | 'moved'
  readonly allowInterface?: readonly string[]
  readonly withoutAgentReset?: true
  readonly detailedExitcode?: true
  readonly uploadForks: number
  /** Bytes a second. */
  readonly uploadLimit?: number
  /** Seconds of silence after which a host is shown as stalled. */
  readonly stallAfter: number
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
  {
    flag: '--use-operator-link',
    name: 'use_operator_link',
    value: (options: RunOptions) => options.useOperatorLink,
  },
  {
    flag: '--force-ssh-install',
    name: 'force_ssh_install',
    value: (options: RunOptions) => options.forceSshInstall,
  },
  {
    flag: '--allow-host-root-downgrade',
    name: 'allow_host_root_downgrade',
    value: (options: RunOptions) => options.allowHostRootDowngrade,
  },
  { flag: '--stop-at', name: 'stop_at', value: (options: RunOptions) => options.stopAt },
  { flag: '--allow-interface', name: 'allow_interface', value: (options: RunOptions) => options.allowInterface },
  {
    flag: '--yes-remove-everything',
    name: 'yes_remove_everything',
    value: (options: RunOptions) => options.yesRemoveEverything,
  },
  {
    flag: '--without-agent-reset',
    name: 'agent_reset',
    value: (options: RunOptions) => (options.withoutAgentReset ? false : undefined),
  },
] as const

export const optionVars = (options: RunOptions): Vars =>
  Object.fromEntries(
    variableOptions
      .flatMap(({ name, value }) => [[name, value(options)] as const])
      .filter(([, value]) => value !== undefined),
  ) as Vars

const isReferred = (name: string, where: readonly unknown[]): boolean => {
  const text = JSON.stringify(where)
  return text.includes(`\${${name}}`) || text.includes(`\${${name}.`)
}

/**
 * A variable of `-e name=value` that nothing looks at is misspelt: it is typed by hand, and its step would run
 * without it. A file may hold more than one playbook needs.
 */
export const refuseUnused = (
  { extraVars = [] }: Pick<RunOptions, 'extraVars'>,
  playbook: Pick<Playbook, 'name'>,
  inventory: Inventory,
): void => {
  const typed = extraVars.filter((arg) => !/^\s*[@{]/.test(arg)).map((arg) => arg.split('=', 1)[0]?.trim() ?? '')
  const where = [playbook, extraVars, inventory.hosts.map(({ vars }) => vars)]
  const unused = typed.filter((name) => !isReferred(name, where))
  const [first] = unused
  if (first === undefined) return
  const known = [
    ...new Set([...JSON.stringify(where).matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? '')),
  ]
  const near = nearName(first, known)
  throw new DroverError({
    code: 'usage',
    message: `Nothing in ${playbook.name} uses ${unused.map((name) => `-e ${name}`).join(' and ')}.`,
    remedy: `${near === undefined ? '' : `Did you mean ${near}? `}It uses: ${known.sort().join(', ') || 'no variables'}.`,
  })
}

/** An option that the playbook would never look at is refused: it would pass for granted and do nothing. */
export const refuseIdle = (options: RunOptions, playbook: Playbook): void => {
  const isUsed = (name: string): boolean => isReferred(name, [playbook]) || Object.hasOwn(confirmedVars(playbook), name)
  const idle = variableOptions.filter(({ name, value }) => value(options) !== undefined && !isUsed(name))
  const [first] = idle
  if (first === undefined) return
  throw new DroverError({
    code: 'usage',
    message: `The playbook ${playbook.name} has no use for ${idle.map(({ flag }) => flag).join(' and ')}.`,
    remedy: `Leave it out, or let a step of ${playbook.file} use the variable ${first.name}.`,
  })
}
