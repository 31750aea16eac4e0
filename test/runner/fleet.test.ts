import { expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { runFleet } from '../../src/runner/fleet.ts'
import { createFakeConnection, type FakeConnection, type HeldAnswer, hold } from '../transport/fake-connection.ts'
import { fakeHost } from '../transport/fake-host.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { aRun, facts, fileTask, only, play, tasksOf } from './world.ts'

const tasks = tasksOf(fileTask('one', '/x'))
const satisfied = { paths: { '/x': { file: 'x' } } }

const fleet = (count: number) => {
  const names = Array.from({ length: count }, (_, index) => `h${index}`)
  const plays = names.map((name) => play(fakeHost({ name }), 'one'))
  const held = new Map<string, HeldAnswer>(plays.map((of) => [of.host.name, hold(facts(tasks, of, satisfied))]))
  const fakes = Object.fromEntries(
    plays.map((of): [string, FakeConnection] => [
      of.host.name,
      createFakeConnection({ inspect: held.get(of.host.name) as HeldAnswer }, of.host),
    ]),
  )
  const transport = createFakeTransport(fakes)
  return { plays, transport, host: (name: string) => held.get(name) as HeldAnswer }
}

test('as many hosts at a time as there are forks, each place taken as soon as it is free', async () => {
  const { plays, transport, host } = fleet(4)
  const running = runFleet(aRun(tasks, transport, { forks: 2 }), plays)
  await Promise.all([host('h0').reached, host('h1').reached])
  expect(transport.connects).toEqual(['h0', 'h1'])
  host('h1').release()
  await host('h2').reached
  expect(transport.connects).toEqual(['h0', 'h1', 'h2'])
  host('h2').release()
  await host('h3').reached
  host('h3').release()
  host('h0').release()
  expect(await running).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged'])
})

test('one bad host holds up and hides no other', async () => {
  const { plays, transport, host } = fleet(3)
  const run = aRun(tasks, transport, { forks: 3 })
  const running = runFleet(run, plays)
  await Promise.all(['h0', 'h1', 'h2'].map((name) => host(name).reached))
  host('h1').fail(new DroverError({ code: 'channel-failed', message: 'm', remedy: 'r' }))
  host('h2').fail(new Error('bug'))
  host('h0').release()
  expect(await running).toEqual(['unchanged', 'unreachable', 'failed'])
  expect(
    only(run.events, 'host-ended')
      .map(({ host: name }) => name)
      .sort(),
  ).toEqual(['h0', 'h1', 'h2'])
})

test('the first Ctrl-C lets what runs end, and starts no other host', async () => {
  const stop = new AbortController()
  const names = ['h0', 'h1', 'h2']
  const plays = names.map((name) => play(fakeHost({ name }), 'one'))
  const first = hold(facts(tasks, plays[0] as never, satisfied))
  const transport = createFakeTransport({ h0: createFakeConnection({ inspect: first }, plays[0]?.host) })
  const run = aRun(tasks, transport, { forks: 1, softStop: stop.signal })
  const running = runFleet(run, plays)
  await first.reached
  stop.abort()
  first.release()
  expect(await running).toEqual(['unchanged', 'cancelled', 'cancelled'])
  expect(transport.connects).toEqual(['h0'])
  expect(only(run.events, 'host-ended').map(({ host, outcome }) => [host, outcome])).toEqual([
    ['h0', 'unchanged'],
    ['h1', 'cancelled'],
    ['h2', 'cancelled'],
  ])
  expect(only(run.events, 'host-started').map(({ host }) => host)).toEqual(['h0'])
})

test('no hosts are no work', async () => {
  expect(await runFleet(aRun(tasks, createFakeTransport({})), [])).toEqual([])
})
