import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { whyForeignToSsh2 } from './called-for.ts'
import { createChooser } from './choose-client.ts'
import type { Connection, ConnectOptions, Transport } from './connection.ts'
import { createCredentialStore } from './login/credential-store.ts'
import type { PassphraseProvider } from './login/keys.ts'
import { createPasswordGates } from './login/password-gate.ts'
import { onceEach } from './once-each.ts'
import { createOpensshTransport } from './openssh/openssh-transport.ts'
import { createPacer } from './pacing/pacer.ts'
import { createSsh2Transport, type TransportOptions } from './ssh2/ssh2-transport.ts'
import { wayKey } from './way-key.ts'

export type { TransportOptions } from './ssh2/ssh2-transport.ts'

/** The transport of drover: for each host the client that it calls for. */
export const createTransport = (options: TransportOptions): Transport => {
  const notify = onceEach(options.onNotice ?? (() => undefined))
  const shared: TransportOptions = {
    knownHosts: new Map(),
    keys: new Map(),
    pacer: createPacer(),
    passwordGates: createPasswordGates(),
    ...options,
    onNotice: notify,
    passphrase: askedOnce(options.passphrase),
  }
  const clients = { ssh2: createSsh2Transport(shared), openssh: createOpensshTransport(shared) }
  const choose = createChooser(createCredentialStore({ ...shared, notify }), options.env ?? {})
  const turnedAway = new Set<string>()

  /** Only now it is known that drover's own client cannot. */
  const connectOtherwise = async (host: Host, connect: ConnectOptions, error: unknown): Promise<Connection> => {
    const foreign =
      error instanceof DroverError && error.code === 'handshake-failed' ? whyForeignToSsh2(error.message) : undefined
    if (foreign === undefined || (host.transport ?? 'auto') !== 'auto') throw error
    await clients.openssh.prepare([host]).catch(() => {
      throw error
    })
    turnedAway.add(wayKey([...host.jump, host]))
    notify({
      host: host.name,
      message: `goes by this machine's ssh: ${foreign}`,
    })
    return clients.openssh.connect(host, connect)
  }

  return {
    connect: async (host, connect = {}) => {
      const { transport } = await choose(host)
      if (transport === 'openssh' || turnedAway.has(wayKey([...host.jump, host])))
        return clients.openssh.connect(host, connect)
      return clients.ssh2.connect(host, connect).catch((error: unknown) => connectOtherwise(host, connect, error))
    },
    prepare: async (hosts) => {
      const choices = await Promise.all(hosts.map(async (host) => ({ host, choice: await choose(host) })))
      const of = (transport: 'ssh2' | 'openssh') => choices.filter(({ choice }) => choice.transport === transport)
      const reasons = Map.groupBy(of('openssh'), ({ choice }) => choice.because)
      for (const [because, [first, ...others]] of reasons) {
        if (because === undefined || first === undefined) continue
        const more = others.length === 0 ? '' : ` (and ${others.length} more)`
        notify({ host: first.host.name, message: `goes by this machine's ssh${more}: ${because}` })
      }
      const prepared = await Promise.allSettled([
        clients.ssh2.prepare(of('ssh2').map(({ host }) => host)),
        clients.openssh.prepare(of('openssh').map(({ host }) => host)),
      ])
      for (const one of prepared) if (one.status === 'rejected') throw one.reason
    },
    close: async () => {
      await Promise.all([clients.ssh2.close(), clients.openssh.close()])
    },
  }
}

const askedOnce = (passphrase: PassphraseProvider): PassphraseProvider => {
  const known = new Map<string, ReturnType<PassphraseProvider>>()
  return (file) => {
    const answer = known.get(file) ?? passphrase(file)
    known.set(file, answer)
    return answer
  }
}
