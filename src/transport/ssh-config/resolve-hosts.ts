import { readFileSync } from 'node:fs'
import { DroverError, InputError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { machineKey } from '../../inventory/same-machine.ts'
import { createAnswers } from './answers.ts'
import type { SshConfigSource } from './config-source.ts'
import { filesOf } from './config-source.ts'
import { readConfigTree } from './config-tree.ts'
import { findDefaultKeys } from './default-keys.ts'
import type { Destination } from './evaluate.ts'
import { fillHost } from './fill-host.ts'
import { noticesOf } from './notices.ts'
import type { JumpSpec } from './proxy-jump.ts'
import { agrees, type SettingsContext, settingsOf } from './settings.ts'
import { type Filled, wayTo } from './ways.ts'

export interface ResolveHostsOptions {
  readonly source: SshConfigSource
  /** The home directory in the account's entry, where ssh looks. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly localUser: string
  readonly workstation: string
  /** There is a passphrase for encrypted keys. */
  readonly opensKeys: boolean
  /** A hop that only ssh_config knows of, with what the command line says of all hosts. */
  readonly hopOf: (spec: JumpSpec) => Host
  readonly program?: string
}

export interface ResolvedHosts {
  readonly hosts: readonly Host[]
  /** What ssh_config asks for in vain, for all hosts together. */
  readonly notices: readonly string[]
  /** How many times ssh was asked. */
  readonly asked: number
}

/** Fills in what ssh_config says about the hosts and their ways. Rejects as `ssh-config-invalid`; no host is touched. */
export const resolveHosts = async (hosts: readonly Host[], options: ResolveHostsOptions): Promise<ResolvedHosts> => {
  const { source, home, env, localUser, workstation, program = 'ssh', hopOf } = options
  refuseMissing(source)
  const items = readConfigTree(filesOf(source, home), { home, env })
  const keys = findDefaultKeys(home, { opens: options.opensKeys })
  const contextOf = ({ name, user }: Pick<Destination, 'name' | 'user'>, port?: number): SettingsContext => ({
    name,
    user,
    port,
    localUser,
    workstation,
    home,
    env,
  })
  const answers = createAnswers({
    items,
    source,
    program,
    env: withoutSecrets(env),
    agrees: (answer, own, destination) => agrees(answer, own, contextOf(destination)),
  })
  const seen: (Filled | undefined)[] = []
  const uncertain = new Set<string>()

  const fill = async (host: Host): Promise<Filled> => {
    // In the order of the asking: answers come as they like.
    const place = seen.push(undefined) - 1
    const isGiven = (field: 'user' | 'port'): boolean => host.given?.includes(field) ?? false
    const destination = { name: host.address, user: isGiven('user') ? host.user : undefined, localUser }
    const { answer, own } = await answers.of(destination)
    if (!own.isCertain) uncertain.add(host.name)
    const settings = settingsOf(answer, own, contextOf(destination, isGiven('port') ? host.port : undefined))
    const filled = { host: fillHost(host, settings, keys), settings }
    seen[place] = filled
    return filled
  }
  const resolved = await Promise.all(
    hosts.map(async (host) => {
      const filled = await fill(host)
      return { ...filled.host, jump: await wayTo(filled, { fill, hopOf }) }
    }),
  )
  refuseSameMachines(resolved)
  const unread =
    answers.isWithoutSsh && uncertain.size > 0
      ? [
          'ssh_config: this machine has no ssh client, so conditions such as Match exec were taken for not fulfilled ' +
            `(${uncertain.size} hosts, ${[...uncertain][0]} the first)`,
        ]
      : []
  return {
    hosts: resolved,
    notices: [...unread, ...noticesOf(seen.filter((one) => one !== undefined))],
    asked: answers.asked,
  }
}

const refuseMissing = (source: SshConfigSource): void => {
  if (source.kind !== 'file') return
  try {
    readFileSync(source.path)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new InputError('ssh-config-invalid', [
      {
        file: source.path,
        message: `cannot be read as ssh_config: ${reason}`,
        remedy: 'Correct the path given by -F or DROVER_SSH_CONFIG.',
      },
    ])
  }
}

/** Two names of the inventory may become one machine only here. */
const refuseSameMachines = (hosts: readonly Host[]): void => {
  const firsts = new Map<string, Host>()
  const messages: string[] = []
  for (const host of hosts) {
    const key = machineKey(host)
    const first = firsts.get(key)
    if (first === undefined) firsts.set(key, host)
    else
      messages.push(
        `By ssh_config ${host.name} is the same machine as ${first.name}: ${host.address} port ${host.port}.`,
      )
  }
  if (messages.length === 0) return
  throw new DroverError({
    code: 'inventory-invalid',
    message: messages.join('\n'),
    remedy: 'Keep one name, or correct HostName, Port or ProxyJump in ssh_config.',
  })
}

/** A `Match exec` of the configuration starts programs, which have no business with drover's passwords. */
const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('DROVER_')))
