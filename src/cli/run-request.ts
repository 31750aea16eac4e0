import { readFileSync } from 'node:fs'
import { DroverError } from '../errors.ts'
import { parseExtraVars } from '../playbook/extra-vars.ts'
import { hostPlays } from '../playbook/host-plays.ts'
import type { HostPlay, Playbook } from '../playbook/playbook.ts'
import type { Transport } from '../transport/connection.ts'
import { type BuiltIn, loadAsked } from './built-in.ts'
import { confirmedVars, confirmRun, refuseIdleConfirm } from './confirmation.ts'
import type { WholeContext } from './context.ts'
import { createFaults } from './faults.ts'
import type { Logger } from './log.ts'
import type { Passwords } from './passwords.ts'
import { prepareReleases, releasesOf } from './prepare-releases.ts'
import { optionVars, type RunOptions, refuseIdle, refuseUnused } from './run-options.ts'
import { secretSources } from './secret-sources.ts'
import { chooseHosts, readSources, type Sources, type Tell } from './sources.ts'

export interface RunRequest {
  readonly sources: Sources
  readonly playbook: Playbook
  readonly plays: readonly HostPlay[]
}

interface Means {
  readonly transport: Transport
  readonly passwords: Passwords
  readonly tell: Tell
  readonly log: Logger
}

/** Reads everything a run needs of this machine; what is wrong with it is thrown all at once, before any host is touched. */
export const prepareRun = async (
  context: WholeContext,
  { transport, passwords, tell, log }: Means,
  asked: string | BuiltIn,
  options: RunOptions,
): Promise<RunRequest> => {
  const { cwd, tasks } = context
  const faults = createFaults()
  const sources = await faults.attempt(() => readSources(context, options))
  const hosts = sources && (await faults.attempt(() => chooseHosts(context, sources.inventory, options, tell)))
  const playbook = await faults.attempt(() => loadAsked(asked, context))
  const given = await faults.attempt(() => parseExtraVars(options.extraVars ?? [], { cwd, readFile: readFileSync }))
  if (playbook !== undefined) await faults.attempt(() => refuseIdle(options, playbook))
  if (playbook !== undefined) await faults.attempt(() => refuseIdleConfirm(options, playbook))
  if (playbook && given && sources) await faults.attempt(() => refuseUnused(options, playbook, sources.inventory))
  const asWritten =
    sources && hosts && playbook && given
      ? await faults.attempt(() => {
          const extraVars = { ...given, ...optionVars(options), ...confirmedVars(playbook) }
          const secrets = secretSources(context)
          const { inventory } = sources
          return someOf(hostPlays({ playbook, inventory, hosts, tasks, extraVars, cwd, secrets }), playbook, options)
        })
      : undefined
  const plays = asWritten && (await prepareReleases(asWritten, tasks, { releases: releasesOf(context, log), faults }))
  const reached = plays?.map(({ host }) => host) ?? hosts
  if (reached !== undefined) {
    await faults.attempt(() => passwords.read(reached))
    await faults.attempt(() => transport.prepare(reached))
  }
  faults.throwAny()
  if (sources === undefined || playbook === undefined || plays === undefined)
    throw new Error('a part of the request is missing')
  await confirmRun(
    context,
    playbook,
    plays.map(({ host }) => host),
    options,
  )
  await passwords.ask()
  return { sources, playbook, plays }
}

const someOf = (plays: HostPlay[], { name, hosts }: Playbook, { limit }: RunOptions): HostPlay[] => {
  if (plays.length > 0) return plays
  throw new DroverError({
    code: 'pattern-no-match',
    message: `The playbook ${name} is for ${hosts}, and --limit ${limit ?? 'all'} leaves none of these hosts.`,
    remedy: 'Choose hosts that the playbook is for; drover inventory graph shows who is in which group.',
  })
}
