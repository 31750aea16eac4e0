import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { runStage } from './stage.ts'

/** All addresses of a name, in the order to try them. */
export type Resolver = (name: string) => Promise<readonly string[]>

export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)

export const resolveAddress = (
  host: Host,
  resolver: Resolver,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<readonly string[]> => {
  if (isIP(host.address) !== 0) return Promise.resolve([host.address])
  const timeoutError = () => unresolved(host, `no answer within ${deadlineMs} ms`)
  return runStage({ deadlineMs, timeoutError, signal }, ({ done, failed }) => {
    resolver(host.address).then(
      (addresses) => (addresses.length > 0 ? done(addresses) : failed(unresolved(host, 'it has no address'))),
      (error: NodeJS.ErrnoException) => failed(unresolved(host, error.code ?? error.message, error)),
    )
    return () => undefined
  })
}

const unresolved = (host: Host, why: string, cause?: unknown): DroverError =>
  new DroverError({
    code: 'resolve-failed',
    message: `The name ${host.address} (for port ${host.port}) does not resolve: ${why}.`,
    remedy: "Correct the host's address in the inventory, or see to the name service of this machine.",
    cause,
  })
