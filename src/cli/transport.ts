import { Secret } from '../secret.ts'
import type { StageDeadlines, Transport, TransportNotice } from '../transport/connection.ts'
import type { TransportOptions } from '../transport/transport.ts'
import type { WholeContext } from './context.ts'
import type { Passwords } from './passwords.ts'
import { sourceOf, sshConfigWord } from './ssh-config.ts'

const deadlines: StageDeadlines = {
  resolveMs: 10_000,
  connectMs: 10_000,
  handshakeMs: 20_000,
  authMs: 30_000,
  channelMs: 20_000,
}

/** `-T` is for what an absent or overrun host holds up; a login may wait for a person. */
const deadlinesFor = (seconds: number | undefined): StageDeadlines =>
  seconds === undefined ? deadlines : { ...deadlines, connectMs: seconds * 1000, handshakeMs: seconds * 1000 }

export interface OpenTransportOptions {
  /** Seconds. */
  readonly connectTimeout: number | undefined
  /** Of `-F`. */
  readonly sshConfig?: string | undefined
  readonly passwords: Pick<Passwords, 'passwordOf' | 'keep'>
  readonly onNotice: (notice: TransportNotice) => void
}

export const openTransport = (context: WholeContext, options: OpenTransportOptions): Transport =>
  context.createTransport(transportOptions(context, options))

/** What all ways to the hosts are made with. */
export const transportOptions = (
  { cwd, env, ask }: Pick<WholeContext, 'cwd' | 'env' | 'ask'>,
  { passwords, onNotice, connectTimeout, sshConfig }: OpenTransportOptions,
): TransportOptions => ({
  sshConfig: sshConfigWord(sourceOf({ cwd, env }, sshConfig)),
  deadlines: deadlinesFor(connectTimeout),
  passphrase: async (file) => {
    if (env.DROVER_KEY_PASSPHRASE) return env.DROVER_KEY_PASSPHRASE
    const typed = await ask({ text: `Passphrase of ${file}: `, isHidden: true })
    if (!typed) return undefined
    passwords.keep(new Secret(typed))
    return typed
  },
  passwordOf: passwords.passwordOf,
  ask,
  env,
  agentSocket: env.SSH_AUTH_SOCK || undefined,
  onNotice,
})
