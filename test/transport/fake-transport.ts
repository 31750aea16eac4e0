/**
 * A transport over fake connections, by host name. A value may be an error (the connect rejects with it) or a
 * promise of either, which holds the connect until it settles; a list is for one connect after the other, the last for
 * all further ones. A host that is not named rejects and fails the test.
 *
 *     const transport = createFakeTransport({ 'host-1': fake, 'host-2': unreachableError, 'host-3': later.promise })
 */
import { onTestFinished } from 'vitest'
import type { Connection, Transport } from '../../src/transport/connection.ts'
import { aborted } from './fake-answers.ts'
import type { FakeConnection } from './fake-connection.ts'

type Reached = FakeConnection | Error
type Scripted = Reached | Promise<Reached>

export interface FakeTransport extends Transport {
  /** The names of the hosts that were connected to, in order. */
  readonly connects: readonly string[]
  readonly isClosed: boolean
}

export const createFakeTransport = (hosts: Record<string, Scripted | readonly Scripted[]>): FakeTransport => {
  const connects: string[] = []
  const faults: string[] = []
  let isClosed = false
  onTestFinished(() => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  return {
    connects,
    get isClosed() {
      return isClosed
    },
    prepare: async () => undefined,
    connect: async (host, options = {}): Promise<Connection> => {
      connects.push(host.name)
      const given = hosts[host.name]
      const nth = connects.filter((name) => name === host.name).length - 1
      const scripted = isList(given) ? (given[nth] ?? given.at(-1)) : given
      if (scripted === undefined) faults.push(`unscripted connect to ${host.name}`)
      const reached = await Promise.race([scripted ?? new Error(faults.at(-1)), aborted(options.signal)])
      if (reached instanceof Error) throw reached
      reached.reopen()
      return { ...reached.connection, host }
    },
    close: async () => {
      isClosed = true
    },
  }
}

const isList = (given: Scripted | readonly Scripted[] | undefined): given is readonly Scripted[] => Array.isArray(given)
