import fc from 'fast-check'
import type { HostPlay } from '../../src/playbook/playbook.ts'
import type { HostRootState } from '../../src/tasks/agent/host-root.ts'
import { agentUnit } from '../../src/tasks/agent/names.ts'
import { hostRoots, LEGACY, layoutMarkers, libraryDirectory, ROOT } from '../../src/tasks/agent/paths.ts'
import { pass, restartUnit, startUnit } from './agent.ts'
import { fire } from './armed.ts'
import { boot } from './boot.ts'
import { drive, type Ending } from './drive.ts'
import { missed } from './goals.ts'
import type { LivingHost, Weather } from './host.ts'
import type { Watch } from './watch.ts'

/** Something that somebody does to a host. */
export type Act =
  | {
      readonly do: 'run'
      readonly play: string
      /** Changes that are made before the run is cut, and what else happens then. */
      readonly cut: null | { readonly after: number; readonly by: 'a kill' | 'a reboot' }
      readonly agentSteps: number
    }
  | { readonly do: 'reboot' | 'restart' | 'kill'; readonly agentSteps: number }
  | { readonly do: 'time passes' | 'stop' | 'start' }
  | { readonly do: 'weather'; readonly what: keyof Weather; readonly is: boolean }
  | { readonly do: 'artifacts' | 'foreign file' | 'owner moves away' }

const weathers: readonly (keyof Weather)[] = ['noexec', 'denied', 'stuck', 'restartLost']

const agentSteps = fc.oneof(
  { weight: 4, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
  fc.integer({ min: 1, max: 45 }),
)

export const actsOf = (plays: readonly string[]): fc.Arbitrary<Act> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('run' as const),
        play: fc.constantFrom(...plays),
        cut: fc.option(
          fc.record({
            after: fc.integer({ min: 0, max: 40 }),
            by: fc.constantFrom('a kill' as const, 'a reboot' as const),
          }),
          { freq: 2 },
        ),
        agentSteps,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constantFrom('reboot' as const, 'restart' as const, 'kill' as const), agentSteps }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('time passes' as const, 'stop' as const, 'start' as const) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('weather' as const),
        what: fc.constantFrom(...weathers),
        is: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('artifacts' as const, 'foreign file' as const) }) },
  )

/** How a run ended, and how it left the host, before any more time went by. */
type Ran = Ending & { readonly root: HostRootState; readonly missed: string | null }

const isUp = (host: LivingHost): boolean => host.agent.active === 'active'

/** Does it, and says how a run ended. */
export const act = (host: LivingHost, watch: Watch, plays: ReadonlyMap<string, HostPlay>, one: Act): Ran | null => {
  watch.begin(JSON.stringify(one))
  host.agentSteps = 'agentSteps' in one ? one.agentSteps : Number.POSITIVE_INFINITY
  switch (one.do) {
    case 'run': {
      const play = plays.get(one.play)
      if (play === undefined) throw new Error(`no play ${one.play}`)
      watch.mayGo = /^(reset|uninstall)/.test(one.play)
      const layout = hostRoots.flatMap(layoutMarkers).filter((path) => host.disk.exists(path))
      const ending = drive(host, play, one.cut?.after)
      const root = watch.root
      const isFine = ending.error === null && !ending.isCut
      const lost = one.play.startsWith('reset') ? layout.find((path) => !host.disk.exists(path)) : undefined
      const kept = lost === undefined ? null : `8.3: the reset took ${lost}`
      const ran = { ...ending, root, missed: isFine ? (missed(host, root, one.play) ?? kept) : kept }
      if (ending.isCut) cut(host, one.cut?.by ?? 'a kill')
      pass(host)
      watch.mayGo = false
      return ran
    }
    case 'reboot':
      boot(host)
      return null
    case 'restart':
      if (isUp(host)) restartUnit(host, agentUnit)
      pass(host)
      return null
    case 'kill':
      if (!isUp(host)) return null
      host.stop(agentUnit, 'failed')
      host.restartDue = true
      pass(host)
      return null
    case 'time passes':
      pass(host)
      return null
    case 'stop':
      host.stop(agentUnit)
      return null
    case 'start':
      startUnit(host, agentUnit)
      pass(host)
      return null
    case 'weather':
      weather(host, one.what, one.is)
      return null
    default:
      operator(host, watch, one.do)
      return null
  }
}

/** Nobody goes on with the run: after a while the host undoes what it had armed, and its guard lets go. */
const cut = (host: LivingHost, by: 'a kill' | 'a reboot'): void => {
  if (by === 'a reboot') boot(host)
  else if (host.armed !== null) fire(host)
  host.lock = null
}

/** Nobody takes the right to run from under an agent that runs there. */
const weather = (host: LivingHost, what: keyof Weather, is: boolean): void => {
  const isThere = host.disk.lstat(ROOT).type === 'directory'
  if (!(isThere && is && ['noexec', 'denied'].includes(what))) host.weather[what] = is
}

const operator = (host: LivingHost, watch: Watch, what: string): void => {
  const { disk } = host
  if (what === 'artifacts') {
    disk.directories('/opt/unbounded/artifacts')
    disk.directory('/opt/unbounded', 0o750)
    disk.write('/opt/unbounded/artifacts/bundle', 'an image', 0o600)
  }
  if (what === 'foreign file' && layoutMarkers(LEGACY).some((path) => disk.exists(path)) && disk.readOnly.length === 0)
    disk.write(`${libraryDirectory(LEGACY)}/notes`, "an operator's", 0o644)
  watch.begin(what)
}
