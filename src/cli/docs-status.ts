import { type HostRootRow, hostRootTable, type MigrationStep } from '../tasks/agent/host-root.ts'
import { verdicts } from '../tasks/agent/verdict.ts'
import { verdictHelp } from '../tasks/agent/verdict-help.ts'

/** For docs/operations.md: what status may say, in the order in which it decides. */
export const verdictsMarkdown = (): string =>
  [
    '| verdict | what it means | what helps |',
    '|---|---|---|',
    ...verdicts.map((verdict) => `| \`${verdict}\` | ${verdictHelp[verdict].means} | ${verdictHelp[verdict].helps} |`),
  ].join('\n')

/** For docs/migration.md: the state machine of the host root. */
export const hostRootMarkdown = (): string =>
  [
    '| state | what it means | what `migrate` does | upgrade, rollback | then | how to go back |',
    '|---|---|---|---|---|---|',
    ...hostRootTable.map(row),
  ].join('\n')

const row = (one: HostRootRow): string => {
  const { state, means, switches, leadsTo, goBack } = one
  const allowed = switches ? 'allowed' : 'refused'
  return `| ${[`**${state}**`, means, stepOf(one), allowed, leadsTo.join(', ') || '-', goBack].join(' | ')} |`
}

const stepOf = ({ migrate, remedy }: HostRootRow): string => {
  const step = steps[migrate]
  return remedy === null ? `${step}.` : `${step}. ${remedy}`
}

const steps: Readonly<Record<MigrationStep, string>> = {
  link: 'Links `/opt/unbounded/agent` to `/usr/local`',
  'drop-link': 'Removes the link; there is nothing to move',
  move: 'The first pass: copies, swaps, runs the copy, has the units name it, restarts the agent',
  restart: 'Restarts the agent, which then runs from the new root',
  finish: 'Lets the agent end it by itself; where it does not, the second pass: the units again, then the old files',
  done: 'Nothing: it is where it should be',
  nothing: 'Nothing, for want of an agent',
  refuse: 'Nothing, and the host is blocked',
}
