import { expect, test } from 'vitest'
import { isFull } from '../../e2e/support/full.ts'
import { type Act, act } from './acts.ts'
import { type FirstHost, firstHosts } from './hosts.ts'
import { playsOfALife } from './playbooks.ts'
import { Watch } from './watch.ts'

const plays = await playsOfALife()
const never = Number.POSITIVE_INFINITY
const run = (play: string, cut: Extract<Act, { do: 'run' }>['cut'] = null, agentSteps = never): Act => ({
  do: 'run',
  play,
  cut,
  agentSteps,
})

/** What each play is tried on: a host, and what was done to it before. */
const beginnings: readonly (readonly [play: string, first: FirstHost, before: readonly (string | Act)[]])[] = [
  ['install first', 'bare', []],
  ['install second', 'read-only /usr', []],
  ['install old', 'bare', []],
  ['upgrade first', 'of v0.1.0', []],
  ['upgrade old', 'of v0.1.0', []],
  ['upgrade first', 'of v0.2.0', []],
  ['upgrade second', 'linked', []],
  ['upgrade second', 'bare', ['install first', 'migrate']],
  ['rollback', 'of v0.2.0', ['upgrade first']],
  ['rollback', 'read-only /usr', ['install first', 'upgrade second']],
  ['migrate as far as the link', 'of v0.2.0', []],
  ['unlink', 'of v0.2.0', ['migrate as far as the link']],
  ['migrate', 'linked', []],
  ['migrate', 'linked, never started since', []],
  ...(['reset', 'reset without the agent', 'uninstall'] as const).flatMap((play) => [
    [play, 'of v0.2.0', []] as const,
    [play, 'linked', []] as const,
    [play, 'read-only /usr', ['install first']] as const,
    [play, 'with two installations', []] as const,
    // Half moved, and nobody goes on with it.
    [play, 'linked', [{ do: 'stop' }, run('migrate', { after: 11, by: 'a kill' })]] as const,
    [play, 'linked', [{ do: 'stop' }, run('migrate', { after: 22, by: 'a kill' })]] as const,
  ]),
  // Both passes are drover's own: the agent cannot make the second, or was stopped on purpose.
  ['migrate', 'linked', [{ do: 'weather', what: 'stuck', is: true }]],
  ['migrate', 'linked', [{ do: 'stop' }]],
  ['migrate', 'of v0.2.0', ['upgrade first', 'upgrade second']],
]
/** Neither the binary that runs nor last-good is from before the new root any more. */
const knows = ['upgrade first', 'upgrade second']
const cases = beginnings.map(([play, first, before]) => ({
  play,
  first,
  before,
  given: [first, ...before.map((each) => (typeof each === 'string' ? each : each.do))].join(', '),
}))

/** The play is cut there, and then run once more; the host it leaves has to be as wanted. */
const lifeWith = (first: FirstHost, before: readonly (string | Act)[], cutting: Act, play: string) => {
  const host = firstHosts[first]()
  const watch = new Watch(host)
  for (const earlier of before)
    expect(act(host, watch, plays, typeof earlier === 'string' ? run(earlier) : earlier)?.error ?? null).toBeNull()
  const ending = act(host, watch, plays, cutting)
  const isKilled = host.agentSteps === never
  const again = act(host, watch, plays, run(play))
  const told = watch.story.join('\n')
  return {
    isCut: ending?.isCut === true,
    isKilled,
    /** How the play that was cut, and the one after it, left the host. */
    roots: [ending?.root, again?.root],
    lost: again?.error?.message ?? again?.missed ?? null,
    told,
  }
}

test.each(cases)(
  'cut after any change, by a kill or a reboot, the next $play ends it: $given',
  ({ play, first, before }) => {
    for (const by of ['a kill', 'a reboot'] as const) {
      // A kill at every change; what a boot makes of them is sampled.
      const stride = by === 'a reboot' && !isFull ? 5 : 1
      for (let [after, isCut] = [0, true]; isCut; after += stride) {
        const life = lifeWith(first, before, run(play, { after, by }), play)
        expect(life.lost, `${by} after ${after} changes:\n${life.told}`).toBeNull()
        if (after === 0) expect(life.isCut).toBe(true)
        isCut = life.isCut
      }
    }
  },
)

test.each(['migrate', 'upgrade second'])(
  'the agent killed after any step of its own start, the next %s ends it',
  (play) => {
    for (const first of ['linked', 'linked, never started since', 'of v0.2.0'] as const) {
      if (play === 'migrate' && first === 'of v0.2.0') continue
      for (const cutting of [
        (step: number): Act => ({ do: 'restart', agentSteps: step }),
        (step: number) => run(play, null, step),
      ]) {
        for (let [step, isKilled] = [1, true]; isKilled; step += 1) {
          const life = lifeWith(first, [], cutting(step), play)
          expect(life.lost, `killed after ${step} steps of its own:\n${life.told}`).toBeNull()
          isKilled = life.isKilled
        }
      }
    }
  },
)

test('the copy does not run: cut anywhere, the next migrate leaves the host linked as before and says so (11.31)', () => {
  for (const by of ['a kill', 'a reboot'] as const) {
    for (let [after, isCut] = [0, true]; isCut; after += 1) {
      const denied: Act = { do: 'weather', what: 'denied', is: true }
      const life = lifeWith('linked', [denied], run('migrate', { after, by }), 'migrate')
      expect(life.lost, life.told).toMatch(/does not run/)
      expect(life.roots[1], life.told).toBe('LINKED')
      isCut = life.isCut
    }
  }
})

test('a migrate that was cut can be gone back from for as long as nothing has been swapped in', () => {
  const ends = new Map<string, string>()
  for (let [after, isCut] = [0, true]; isCut; after += 1) {
    const life = lifeWith('of v0.2.0', knows, run('migrate', { after, by: 'a kill' }), 'unlink')
    ends.set(`${life.roots[0]}`, `${life.lost === null ? 'back to' : 'refused on'} ${life.roots[1]}`)
    isCut = life.isCut
  }
  expect(Object.fromEntries(ends)).toEqual({
    LINKED: 'back to LEGACY',
    STAGING: 'back to LEGACY',
    'SWAP-GAP': 'back to LEGACY',
    // From here on the agent goes on by itself.
    'MOVING-1': 'refused on MOVED',
    MOVED: 'refused on MOVED',
  })
})
