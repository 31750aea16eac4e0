import { expect, test } from 'vitest'
import { openLink } from '../../src/runner/link.ts'
import type { StallWatch } from '../../src/runner/stall.ts'
import type { ConnectStage, Transport } from '../../src/transport/connection.ts'
import { createFakeConnection, lostError } from '../transport/fake-connection.ts'
import { aRun, host1, tasksOf } from './world.ts'

const stages: readonly ConnectStage[] = ['waiting', 'resolve', 'connect', 'handshake', 'authenticate']

test('each stage of each connection is a place, and a host that is reached, or is not, owes no word', async () => {
  const log: string[] = []
  const watch: StallWatch = {
    at: (where) => log.push(`at ${where}`),
    opening: (where) => log.push(where),
    heard: () => log.push('heard'),
    rest: () => log.push('rest'),
  }
  const fake = createFakeConnection({})
  let connects = 0
  const transport: Transport = {
    prepare: async () => undefined,
    close: async () => undefined,
    connect: async (_host, options) => {
      connects += 1
      const reached = connects === 2 ? 3 : stages.length
      for (const stage of stages.slice(0, reached)) options?.onStage?.(stage)
      if (connects === 2) throw lostError()
      return fake.connection
    },
  }
  const all = [
    'connect: waiting for a turn',
    'connect: looking up its name',
    'connect: TCP',
    'connect: SSH handshake',
    'connect: login',
    'rest',
  ]
  const link = await openLink(aRun(tasksOf(), transport), host1, watch)
  expect(log.splice(0)).toEqual(all)
  await link.reconnect(lostError())
  expect(log).toEqual([...all.slice(0, 3), 'rest', ...all])
})
