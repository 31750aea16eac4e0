import type { StageDeadlines, Transport, TransportNotice } from '../transport/connection.ts'
import type { CliContext } from './context.ts'

const deadlines: StageDeadlines = {
  resolveMs: 10_000,
  connectMs: 10_000,
  handshakeMs: 20_000,
  authMs: 30_000,
  channelMs: 20_000,
}

export const openTransport = (context: CliContext, onNotice: (notice: TransportNotice) => void): Transport =>
  context.createTransport({
    deadlines,
    passphrase: () => context.env.DROVER_KEY_PASSPHRASE || undefined,
    agentSocket: context.env.SSH_AUTH_SOCK || undefined,
    onNotice,
  })
