import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { LimitFunction } from 'p-limit'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { orAborted } from '../cancelled.ts'
import { runStage } from '../stage.ts'

/** All addresses of a name, in the order to try them. */
export type Resolver = (name: string) => Promise<readonly string[]>

export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)

/** libuv gives half of its threads to getaddrinfo; any more of them wait where nobody sees it. */
export const lookupsAtOnce = (threadCount: number): number => Math.max(1, Math.ceil(threadCount / 2))

export interface ResolveOptions {
  readonly resolver: Resolver
  /** Lookups beyond its limit wait for their turn, and their deadline begins with it. */
  readonly lookups: LimitFunction
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

export const resolveAddress = async (
  host: Host,
  { resolver, lookups, deadlineMs, signal }: ResolveOptions,
): Promise<readonly string[]> => {
  if (isIP(host.address) !== 0) return [host.address]
  const begun = Promise.withResolvers<{ lookup: Promise<readonly string[]> }>()
  void lookups(async () => {
    if (signal?.aborted) return
    const lookup = resolver(host.address)
    begun.resolve({ lookup })
    // It keeps its thread until it ends, whether or not somebody still waits for it.
    await lookup.catch(() => undefined)
  })
  const { lookup } = await orAborted(begun.promise, signal)
  const timeoutError = () => unresolved(host, `no answer within ${deadlineMs} ms`)
  return runStage({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    lookup.then(
      (addresses) => (addresses.length > 0 ? done(addresses) : failed(unresolved(host, 'it has no address'))),
      (error: NodeJS.ErrnoException) => failed(unresolved(host, error.code ?? error.message, error)),
    )
    return () => undefined
  })
}

export const unresolved = (host: Host, why: string, cause?: unknown): DroverError =>
  new DroverError({
    code: 'resolve-failed',
    message: `The name ${host.address} (for port ${host.port}) does not resolve: ${why}.`,
    remedy: "Correct the host's address in the inventory, or see to the name service of this machine.",
    cause,
  })
