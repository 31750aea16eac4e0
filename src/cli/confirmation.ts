import { DroverError } from '../errors.ts'
import type { Host, Vars } from '../inventory/host.ts'
import type { Confirm, Playbook } from '../playbook/playbook.ts'
import { counted } from '../report/paint.ts'
import type { CliContext } from './context.ts'

export interface ConfirmOptions {
  readonly check?: true
  readonly yes?: true
  /** The number of hosts that whoever runs it has in mind. */
  readonly confirm?: number
  readonly yesRemoveEverything?: true
}

type Asker = Pick<CliContext, 'ask' | 'hasTerminal'>

const attempts = 3
const namesShown = 10
// They tell nobody anything.
const ofEverything = new Set(['all', 'ungrouped'])

/**
 * What a flag that the playbook wants besides stands for. It is so in a dry run as well, which needs no flag to show
 * what would go, and in a run without the flag, which is refused for that and not for its variable.
 */
export const confirmedVars = ({ confirm }: Playbook): Vars => (confirm?.also ? { yes_remove_everything: true } : {})

/** As with other options that a playbook would never look at. */
export const refuseIdleConfirm = ({ confirm }: ConfirmOptions, playbook: Playbook): void => {
  if (confirm === undefined || playbook.confirm !== null) return
  throw new DroverError({
    code: 'usage',
    message: `The playbook ${playbook.name} asks for no confirmation, so there is no use for --confirm.`,
    remedy: `Leave it out, or write confirm: into ${playbook.file}.`,
  })
}

/** Somebody has to say that what cannot be undone is meant. Throws `confirmation-missing`. */
export const confirmRun = async (
  asker: Asker,
  { confirm }: Playbook,
  hosts: readonly Host[],
  options: ConfirmOptions,
): Promise<void> => {
  if (confirm === null) return
  refuseOtherNumber(hosts, options)
  if (options.check) return
  const isAgreed = options.yes === true || options.confirm !== undefined
  const isAsked = !isAgreed && asker.hasTerminal()
  const lacks = [
    ...(isAgreed || isAsked ? [] : [`--confirm ${hosts.length}`]),
    ...(confirm.also && !options.yesRemoveEverything ? [`--${confirm.also}`] : []),
  ]
  if (lacks.length > 0) throw unconfirmed(confirm, hosts, lacks)
  if (isAsked) await question(asker, confirm, hosts)
}

const refuseOtherNumber = (hosts: readonly Host[], { confirm: number }: ConfirmOptions): void => {
  if (number === undefined || number === hosts.length) return
  throw missing(
    `--confirm is for ${counted(number, 'host')}, but the run is for ${hosts.length}: ${namesOf(hosts)}.`,
    `Correct --limit or the inventory; if all of them are meant: --confirm ${hosts.length}.`,
  )
}

const unconfirmed = ({ says }: Confirm, hosts: readonly Host[], lacks: readonly string[]): DroverError =>
  missing(
    `Nobody has confirmed it for ${counted(hosts.length, 'host')} (${namesOf(hosts)}). ${says}`,
    `Look at what it would do with --check. If it is meant: ${lacks.join(' ')}.`,
  )

/** A number has to be typed, since yes comes too easily. */
const question = async ({ ask }: Asker, { says }: Confirm, hosts: readonly Host[]): Promise<void> => {
  const above = [
    `This cannot be undone: ${says}`,
    `${counted(hosts.length, 'host')}: ${namesOf(hosts)}`,
    ...groupsOf(hosts),
  ]
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const text = 'Type the number of hosts to go on, nothing to end: '
    const answer = (await ask({ text, isHidden: false, ...(attempt === 1 && { above }) }))?.trim()
    if (answer === String(hosts.length)) return
    if (answer === undefined || answer === '') break
  }
  throw missing(
    `What was typed is not the number of hosts, ${hosts.length}. No host was touched.`,
    'Look at what it would do with --check, then run again and type the number.',
  )
}

const namesOf = (hosts: readonly Host[]): string => {
  const names = hosts.slice(0, namesShown).map(({ name }) => name)
  const more = hosts.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Of each group, the hosts that the run is for. */
const groupsOf = (hosts: readonly Host[]): readonly string[] => {
  const groups = [...new Set(hosts.flatMap(({ groups }) => groups))].filter((group) => !ofEverything.has(group)).sort()
  if (groups.length === 0) return []
  const counts = groups.map((group) => `${group} ${hosts.filter((host) => host.groups.includes(group)).length}`)
  return [`groups: ${counts.join(', ')}`]
}

const missing = (message: string, remedy: string): DroverError =>
  new DroverError({ code: 'confirmation-missing', message, remedy })
