import pLimit from 'p-limit'
import { type DroverError, InputError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { orAborted } from '../cancelled.ts'
import type { Connection, ConnectOptions, Transport } from '../connection.ts'
import { createCredentialStore } from '../login/credential-store.ts'
import { onceEach } from '../once-each.ts'
import type { Way } from '../pacing/connect-paced.ts'
import { connectPaced } from '../pacing/connect-paced.ts'
import { paceKeys } from '../pacing/keys.ts'
import { createPacer } from '../pacing/pacer.ts'
import { SessionConnection } from '../session/session-connection.ts'
import { createSessionLimits } from '../session/session-limit.ts'
import { throughJump } from '../ssh2/find-way.ts'
import { jumpClosed } from '../ssh2/forward.ts'
import { hopByHop, JumpPool } from '../ssh2/jump-pool.ts'
import type { TransportOptions } from '../ssh2/ssh2-transport.ts'
import { wayKey } from '../way-key.ts'
import { checkClient } from './client-version.ts'
import { createKeyNeeds } from './key-needs.ts'
import { logIn } from './log-in.ts'
import { masterIn, type OpenedMaster } from './opened-master.ts'
import { openRunFolder, type RunFolder, startsAtOnce } from './run-folder.ts'
import { refuseUnsafeWords } from './unsafe-words.ts'
import { whyNotThrough } from './why-not-through.ts'

interface MasterWay extends Way {
  readonly jump: OpenedMaster | undefined
}

interface OpenedWay {
  readonly opened: OpenedMaster
  readonly release: () => void
  readonly lost: (() => DroverError | undefined) | undefined
  readonly endpoint: string
}

/** The system's ssh: one process for each connection, over which all commands go as channels. */
export const createOpensshTransport = (options: TransportOptions): Transport => {
  const { deadlines, env = {} } = options
  const pacer = options.pacer ?? createPacer()
  const sessionsAt = createSessionLimits()
  const starts = pLimit(startsAtOnce())
  const notify = onceEach(options.onNotice ?? (() => undefined))
  const store = createCredentialStore({ ...options, notify })
  const keyNeeds = createKeyNeeds({ passphrase: options.passphrase, agentKeysOf: store.agentKeysOf })
  let folder: Promise<RunFolder> | undefined
  const runFolder = (): Promise<RunFolder> => {
    folder ??= openRunFolder(env)
    return folder
  }

  const pool = new JumpPool(hopByHop((hop, before, signal) => open(hop, before, { signal })))

  const findWay = async (
    host: Host,
    chain: readonly Host[],
    { signal, onStage }: ConnectOptions,
  ): Promise<MasterWay> => {
    const { address, port } = host
    const hop = chain.at(-1)
    if (hop === undefined) return { keys: paceKeys({ address, port }), jump: undefined, release: () => undefined }
    onStage?.('connect')
    const acquire = () =>
      pool.acquire(chain, signal).catch((error: unknown) => {
        throw throughJump(hop, error)
      })
    let lease = await acquire()
    if (!(await masterIn(lease.opened).isAlive())) {
      lease.release()
      lease = await acquire()
    }
    const { opened, release } = lease
    return {
      keys: paceKeys({ address, port, via: wayKey(chain) }),
      jump: masterIn(opened),
      lost: () => (opened.closed.aborted ? jumpClosed(hop) : undefined),
      release,
    }
  }

  const openOver = async (
    host: Host,
    chain: readonly Host[],
    { jump, keys, lost, release }: MasterWay,
    { signal, onStage }: ConnectOptions,
  ): Promise<OpenedWay> => {
    const [run, knownHosts, needs] = await Promise.all([runFolder(), store.knownHostsOf(host), keyNeeds.of(host)])
    const hop = chain.at(-1)
    const start = async (): Promise<OpenedMaster> => {
      signal?.throwIfAborted()
      return logIn(host, {
        options,
        run,
        needs: { ...needs, knownHosts, password: options.passwordOf?.(host) },
        jump: jump && hop && { name: hop.name, master: jump },
        notify: (message) => notify({ host: host.name, message }),
        signal,
        onStage,
      })
    }
    if (starts.activeCount >= startsAtOnce()) onStage?.('waiting')
    try {
      const opened = await orAborted(starts(start), signal)
      return { opened, release, lost, endpoint: keys[0] ?? '' }
    } catch (error) {
      if (jump === undefined || hop === undefined) throw error
      throw await whyNotThrough(error, {
        client: jump.client,
        jump: hop,
        host,
        deadlineMs: deadlines.connectMs,
        signal,
      })
    }
  }

  const open = (host: Host, chain: readonly Host[], connect: ConnectOptions): Promise<OpenedWay> =>
    connectPaced(pacer, {
      find: () => findWay(host, chain, connect),
      open: (way) => openOver(host, chain, way, connect),
      signal: connect.signal,
      onWaiting: () => connect.onStage?.('waiting'),
      onRetry: connect.onRetry,
    })

  return {
    connect: async (host, connect = {}): Promise<Connection> => {
      const { opened, release, lost, endpoint } = await open(host, host.jump, connect)
      const sessions = sessionsAt(endpoint)
      const { channelMs } = deadlines
      return new SessionConnection({ ...opened, host, channelMs, sessions, wayLost: lost, onClose: release })
    },
    prepare: async (hosts) => {
      const all = hosts.flatMap((host) => [...host.jump, host])
      if (all.length === 0) return
      await checkClient(env)
      refuseUnsafeWords(all)
      const faults = await keyNeeds.faults(all)
      if (faults.length > 0) throw new InputError('key-unusable', faults)
      await Promise.all(all.map((host) => store.knownHostsOf(host)))
    },
    close: async () => {
      await pool.close()
      await (await folder)?.close()
      folder = undefined
    },
  }
}
