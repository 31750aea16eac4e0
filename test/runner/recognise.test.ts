import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/runner/events.ts'
import { runFleet } from '../../src/runner/fleet.ts'
import type { RecordedHost } from '../facts/answers.ts'
import { createFakeConnection } from '../transport/fake-connection.ts'
import { fakeHost } from '../transport/fake-host.ts'
import { createFakeTransport } from '../transport/fake-transport.ts'
import { applies, aRun, facts, fileTask, only, play, tasksOf } from './world.ts'

const tasks = tasksOf(fileTask('one', '/x'))
const who = (letter: string, pid1 = '7'): RecordedHost => ({
  os: { boot: '0f3a1f6e-1111-4222-8333-444455556666', pid1, id: letter.repeat(32) },
})
const wanted = (host: RecordedHost): RecordedHost => ({ ...host, paths: { '/x': { file: 'x' } } })

/** Hosts that are looked at one after the other; `after` is what the last look shows where it comes to one. */
const ran = async (
  hosts: Readonly<Record<string, { readonly is: RecordedHost; readonly after?: RecordedHost }>>,
  mode: 'apply' | 'check' = 'apply',
): Promise<{ outcomes: readonly string[]; events: readonly RunEvent[] }> => {
  const plays = Object.keys(hosts).map((name) => play(fakeHost({ name }), 'one'))
  const fakes = Object.fromEntries(
    Object.entries(hosts).map(([name, { is, after }], index) => {
      const of = plays[index] as (typeof plays)[number]
      return [
        name,
        createFakeConnection(
          {
            inspect: facts(tasks, of, is),
            ...(after !== undefined && { apply: applies, verify: facts(tasks, of, after, '') }),
          },
          of.host,
        ),
      ]
    }),
  )
  const run = aRun(tasks, createFakeTransport(fakes), { forks: 1, mode })
  return { outcomes: await runFleet(run, plays), events: run.events }
}

const notices = (events: readonly RunEvent[]): string[] => only(events, 'notice').map(({ message }) => message)

describe('one machine under two names', () => {
  test('is changed under the first, and under the second left alone as blocked', async () => {
    const { outcomes, events } = await ran({ a: { is: who('c'), after: wanted(who('c')) }, b: { is: who('c') } })
    expect(outcomes).toEqual(['changed', 'blocked'])
    const ended = only(events, 'host-ended').find(({ host }) => host === 'b')
    expect(ended).toMatchObject({ changes: 0, error: { code: 'same-machine', message: expect.stringContaining('a') } })
    expect(notices(events)).toEqual(['a, b are one machine: the same machine-id, on the same boot'])
  })
  test('is nobody the worse for a check, or for a run that finds nothing to do', async () => {
    const check = await ran({ a: { is: who('c') }, b: { is: who('c') } }, 'check')
    expect([check.outcomes, notices(check.events).length]).toEqual([['would-change', 'would-change'], 1])
    const idle = await ran({ a: { is: wanted(who('c')) }, b: { is: wanted(who('c')) } })
    expect([idle.outcomes, notices(idle.events).length]).toEqual([['unchanged', 'unchanged'], 1])
  })
})

test('clones are changed, each, and told of', async () => {
  const { outcomes, events } = await ran({
    a: { is: who('c', '7'), after: wanted(who('c', '7')) },
    b: { is: who('c', '8'), after: wanted(who('c', '8')) },
  })
  expect(outcomes).toEqual(['changed', 'changed'])
  expect(notices(events)).toEqual([expect.stringContaining('clones')])
})

test('hosts that do not say who they are are not judged', async () => {
  const nobody: RecordedHost = { os: { ...who('c').os, id: 'uninitialized' } }
  const { outcomes, events } = await ran({
    a: { is: nobody, after: wanted(nobody) },
    b: { is: nobody, after: wanted(nobody) },
  })
  expect([outcomes, notices(events), only(events, 'host-recognised')]).toEqual([['changed', 'changed'], [], []])
})

test('an address that leads to another machine at the last look is a failure of the step that was done', async () => {
  const { outcomes, events } = await ran({ a: { is: who('c'), after: wanted(who('d')) } })
  expect(outcomes).toEqual(['failed'])
  expect(only(events, 'host-ended')[0]?.error).toMatchObject({ code: 'wrong-machine', step: 'one' })
  expect(notices(events)).toEqual([])
})

test('a host is recognised once, and not at each look', async () => {
  const { events } = await ran({ a: { is: who('c'), after: wanted(who('c')) } })
  expect(only(events, 'host-recognised')).toMatchObject([{ host: 'a', machineId: 'c'.repeat(32), pid1Start: '7' }])
})
