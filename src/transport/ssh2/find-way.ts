import type { Duplex } from 'node:stream'
import type { LimitFunction } from 'p-limit'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { ConnectOptions, StageDeadlines } from '../connection.ts'
import type { Way } from '../pacing/connect-paced.ts'
import { paceKeys } from '../pacing/keys.ts'
import { wayKey } from '../way-key.ts'
import { forward, jumpClosed } from './forward.ts'
import type { JumpPool } from './jump-pool.ts'
import type { Resolver } from './resolve.ts'
import { resolveAddress } from './resolve.ts'
import { connectTcp } from './tcp.ts'

/** A way over which a socket to the host can be opened. */
export interface SocketWay extends Way {
  openSocket(): Promise<Duplex>
}

export interface WayFinderOptions {
  readonly deadlines: Pick<StageDeadlines, 'resolveMs' | 'connectMs'>
  readonly resolver: Resolver
  readonly lookups: LimitFunction
  readonly pool: Pick<JumpPool, 'acquire'>
}

export type WayFinder = (host: Host, chain: readonly Host[], options: ConnectOptions) => Promise<SocketWay>

/** Asks the name service, or connects the jump hosts: what has to be there before a host can have its turn. */
export const createWayFinder = ({ deadlines, resolver, lookups, pool }: WayFinderOptions): WayFinder => {
  const chainNames = new Map<string, string>()
  /** Short, since each host behind it keeps it for the run. */
  const nameOf = (chain: readonly Host[]): string => {
    const key = wayKey(chain)
    const name = chainNames.get(key) ?? `#${chainNames.size + 1}`
    chainNames.set(key, name)
    return name
  }

  return async (host, chain, { signal, onStage }) => {
    const { connectMs: deadlineMs, resolveMs } = deadlines
    const { address, port } = host
    const jump = chain.at(-1)
    if (jump === undefined) {
      onStage?.('resolve')
      const addresses = await resolveAddress(host, { resolver, lookups, deadlineMs: resolveMs, signal })
      return {
        keys: paceKeys({ address: addresses[0] ?? address, port }),
        openSocket: () => connectTcp(host, addresses, deadlineMs, signal),
        release: () => undefined,
      }
    }
    onStage?.('connect')
    const { opened, release } = await pool.acquire(chain, signal).catch((error: unknown) => {
      throw throughJump(jump, error)
    })
    return {
      keys: paceKeys({ address, port, via: nameOf(chain) }),
      openSocket: () => forward(opened.client, { jump, host, deadlineMs, signal }),
      lost: () => (opened.closed.aborted ? jumpClosed(jump) : undefined),
      release,
    }
  }
}

export const throughJump = (jump: Host, error: unknown): unknown =>
  !(error instanceof DroverError) || error.code === 'cancelled'
    ? error
    : new DroverError({
        code: error.code,
        message: `By way of jump host ${jump.name}: ${error.message}`,
        remedy: error.remedy,
        ...(error.detail !== undefined && { detail: error.detail }),
        cause: error,
      })
