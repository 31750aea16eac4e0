import type { Host } from '../inventory/host.ts'
import type { TransportOptions } from '../transport/transport.ts'
import type { WholeContext } from './context.ts'
import { createFaults } from './faults.ts'
import { createLog, type Logger, type LogOptions } from './log.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { type ConnectionOptions, chooseHosts, type InventoryOptions, readSources } from './sources.ts'
import { transportOptions } from './transport.ts'

export type HostOptions = InventoryOptions & ConnectionOptions & LogOptions

export interface Opening<Way, Asked> {
  /** The way to the hosts. */
  readonly open: (options: TransportOptions) => Way
  /** What else the options ask for; throws where it is wrong. */
  readonly read: () => Asked
  /** A last look at the hosts, before any is touched. */
  readonly prepare: (way: Way, hosts: readonly Host[]) => void | Promise<void>
}

export interface HostRequest<Way, Asked> {
  readonly log: Logger
  readonly passwords: Passwords
  readonly way: Way
  readonly hosts: readonly Host[]
  readonly asked: Asked
}

/**
 * What the verbs begin with that only look at hosts: everything of this machine is read, and what is wrong with it is
 * thrown all at once; then passwords are asked for. The way to the hosts is closed at the end, however it ends.
 */
export const withHosts = async <Way extends { close(): Promise<void> }, Asked>(
  context: WholeContext,
  options: HostOptions,
  { open, read, prepare }: Opening<Way, Asked>,
  look: (request: HostRequest<Way, Asked>) => Promise<number>,
): Promise<number> => {
  const log = createLog(context, options)
  const passwords = createPasswords(context, options)
  const way = open(
    transportOptions(context, {
      passwords,
      onNotice: ({ host, message }) => log.warn(host === null ? {} : { host }, message),
      connectTimeout: options.connectTimeout,
      sshConfig: options.sshConfig,
    }),
  )
  try {
    const faults = createFaults()
    const asked = await faults.attempt(() => ({ value: read() }))
    const sources = await faults.attempt(() => readSources(context, options))
    const hosts =
      sources &&
      (await faults.attempt(() => chooseHosts(context, sources.inventory, options, (text) => log.warn(text))))
    if (hosts !== undefined) {
      await faults.attempt(() => passwords.read(hosts))
      await faults.attempt(() => prepare(way, hosts))
    }
    faults.throwAny()
    if (hosts === undefined || asked === undefined) throw new Error('a part of the request is missing')
    await passwords.ask()
    return await look({ log, passwords, way, hosts, asked: asked.value })
  } finally {
    await way.close()
  }
}
