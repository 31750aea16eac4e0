import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFull } from '../../e2e/support/full.ts'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import { type Act, act, actsOf } from './acts.ts'
import { drive, type Ending } from './drive.ts'
import type { LivingHost } from './host.ts'
import { type FirstHost, firstHosts } from './hosts.ts'
import { playsOfALife } from './playbooks.ts'
import { Watch } from './watch.ts'

const plays = await playsOfALife()

/** Codes that mean a fault of drover, or that a host behaves as none here does. */
const faults = ['internal', 'not-converged', 'drifted', 'change-failed']

/** A life: what somebody does to a host, one thing after the other. Each step of it is watched. */
const walk = (first: FirstHost, acts: readonly Act[], seen: Map<string, number>): void => {
  const host = firstHosts[first]()
  const watch = new Watch(host, seen)
  for (const one of acts) {
    const ending = act(host, watch, plays, one)
    if (one.do !== 'run' || ending === null) continue
    count(seen, `${one.play.split(' ')[0]} ${ending.isCut ? 'was cut' : ending.error === null ? 'ended' : 'refused'}`)
    if (ending.error !== null) {
      expect(faults, `${ending.error.message}\n${watch.story.join('\n')}`).not.toContain(ending.error.code)
      expect(ending.error.remedy).not.toBe('')
    }
    expect(ending.missed, watch.story.join('\n')).toBeNull()
    const play = plays.get(one.play)
    if (play !== undefined && hasEnded(ending, one)) isSettled(host, watch, play)
  }
}

/** Where the agent was killed on the way, it may have gone on since. */
const hasEnded = ({ error, isCut }: Ending, one: Act): boolean =>
  error === null && !isCut && 'agentSteps' in one && one.agentSteps === Number.POSITIVE_INFINITY

/** After a run that ended well, and whatever the agent did since, another one finds nothing to do. */
const isSettled = (host: LivingHost, watch: Watch, play: HostPlay): void => {
  const { error, made } = drive(host, play)
  expect({ error, made }, `once more, after\n${watch.story.join('\n')}`).toEqual({ error: null, made: [] })
}

const count = (seen: Map<string, number>, what: string): void => {
  seen.set(what, (seen.get(what) ?? 0) + 1)
}

/** What the walks together have to come through, or they would show nothing. */
const musts = [
  ...['ABSENT > LEGACY', 'ABSENT > EMPTY-ROOT', 'EMPTY-ROOT > MOVED', 'LEGACY-PLAIN > LEGACY', 'LEGACY > LINKED'],
  ...['LINKED > LEGACY', 'LINKED > STAGING', 'STAGING > SWAP-GAP', 'SWAP-GAP > MOVING-1', 'STAGING > LINKED'],
  ...['MOVING-1 > MOVING-2', 'MOVING-2 > MOVING-1', 'MOVING-2 > MOVED', 'BLOCKED > BLOCKED', 'CONFLICT > CONFLICT'],
  ...['OPERATOR-LINK > OPERATOR-LINK'],
  ...['install', 'upgrade', 'rollback', 'migrate', 'unlink'].flatMap((play) => [`${play} ended`, `${play} refused`]),
  ...['reset ended', 'uninstall ended', 'LINK-ORPHAN > ABSENT', 'MOVED > EMPTY-ROOT', 'EMPTY-ROOT > ABSENT'],
]

test('whatever happens to a host, in whatever order: one state of the table at a time, a whole agent, nothing of the host’s touched (M4, U1, U9, W4)', () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(firstHosts) as FirstHost[])),
      fc.array(actsOf([...plays.keys()]), { maxLength: 12, size: 'max' }),
      (first, acts) => walk(first, acts, seen),
    ),
    { numRuns: isFull ? 5000 : 300, seed: 437 },
  )
  for (const must of musts) expect([...seen.keys()]).toContain(must)
}, 180_000)
