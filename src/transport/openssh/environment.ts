import type { Host } from '../../inventory/host.ts'

/** Variables and their values, as a program is started with. */
export type Environment = Readonly<Record<string, string | undefined>>

interface AskpassEnvironment {
  readonly program: string
  readonly socket: string
  /** Which connection the questions are about. */
  readonly ticket: string
}

export interface EnvironmentOptions {
  readonly base: Environment
  readonly hosts: readonly Host[]
  readonly agentSocket: string | undefined
  readonly askpass: AskpassEnvironment
}

/**
 * The user's environment, which a ProxyCommand or Kerberos may need, without the passwords that drover reads from it.
 * In it ssh speaks English, and whatever it asks, it asks us.
 */
export const sshEnvironment = ({ base, hosts, agentSocket, askpass }: EnvironmentOptions): Environment => {
  const secrets = new Set(
    hosts
      .flatMap((host) => [host.password, host.becomePassword])
      .flatMap((reference) => (reference !== undefined && 'env' in reference ? [reference.env] : [])),
  )
  const kept = Object.entries(base).filter(
    ([name]) => !name.startsWith('DROVER_') && !secrets.has(name) && !ours.has(name) && !/^LC_|^LANG/.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    ...(agentSocket !== undefined && { SSH_AUTH_SOCK: agentSocket }),
    SSH_ASKPASS: askpass.program,
    SSH_ASKPASS_REQUIRE: 'force',
    DROVER_ASKPASS_NODE: process.execPath,
    DROVER_ASKPASS_SOCKET: askpass.socket,
    DROVER_ASKPASS_TICKET: askpass.ticket,
  }
}

const ours = new Set(['SSH_AUTH_SOCK', 'SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE', 'SSH_ASKPASS_PROMPT'])
