import { resolve } from 'node:path'
import type { Host } from '../inventory/host.ts'
import type { SshConfigSource } from '../transport/ssh-config/config-source.ts'
import type { JumpSpec } from '../transport/ssh-config/proxy-jump.ts'
import { resolveHosts } from '../transport/ssh-config/resolve-hosts.ts'
import type { CliContext } from './context.ts'

export interface FillOptions {
  /** Of `-F`. */
  readonly file: string | undefined
  /** Of `-u`. */
  readonly user: string | undefined
  /** What the command line says of every host. */
  readonly reached: (host: Host) => Host
  readonly tell: (message: string) => void
}

/** Fills in what ssh_config says where neither the inventory nor the command line does. */
export const fillBySshConfig = async (
  context: CliContext,
  hosts: readonly Host[],
  { file, user, reached, tell }: FillOptions,
): Promise<readonly Host[]> => {
  const { accountHome, env, workstation } = context
  const resolved = await resolveHosts(hosts, {
    source: sourceOf(context, file),
    home: accountHome,
    env,
    localUser: context.user,
    workstation,
    opensKeys: Boolean(env.DROVER_KEY_PASSPHRASE),
    // `-u` is for the hosts of the inventory: as with ssh, a hop of ssh_config has its own user or yours.
    hopOf: (spec) => withoutUser(reached(plainHop(spec, context.user)), spec, user),
  })
  for (const notice of resolved.notices) tell(notice)
  return resolved.hosts
}

/** `-F`, then DROVER_SSH_CONFIG, then the files that ssh reads. */
export const sourceOf = ({ cwd, env }: Pick<CliContext, 'cwd' | 'env'>, file: string | undefined): SshConfigSource => {
  const named = file ?? (env.DROVER_SSH_CONFIG || undefined)
  if (named === undefined) return { kind: 'usual' }
  return named === 'none' ? { kind: 'none' } : { kind: 'file', path: resolve(cwd, named) }
}

/** As `-F` of ssh wants it; undefined: without. */
export const sshConfigWord = (source: SshConfigSource): string | undefined =>
  source.kind === 'usual' ? undefined : source.kind === 'none' ? 'none' : source.path

const plainHop = ({ text, host, port, user }: JumpSpec, localUser: string): Host => ({
  name: text,
  address: host,
  port: port ?? 22,
  user: user ?? localUser,
  identityFiles: [],
  become: false,
  jump: [],
  variant: 'host',
  offline: false,
  knownHostsFiles: [],
  hostKeyPolicy: 'strict',
  given: [...(port === undefined ? [] : (['port'] as const)), ...(user === undefined ? [] : (['user'] as const))],
  groups: [],
  vars: {},
})

const withoutUser = (hop: Host, { user: written }: JumpSpec, option: string | undefined): Host =>
  option === undefined || written !== undefined
    ? hop
    : { ...hop, given: (hop.given ?? []).filter((field) => field !== 'user') }
