import { toDroverError } from '../errors.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Become } from '../transport/become/become.ts'
import type { ScriptAnswer } from '../transport/script/run-script.ts'
import type { Converged } from './conclude.ts'
import { converge } from './converge.ts'
import type { Outcome, RunEventBody } from './events.ts'
import { watchHost } from './lane-watch.ts'
import { type Link, openLink } from './link.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import { emit, type Run } from './run.ts'
import type { StallWatch } from './stall.ts'
import { openingPlace, watched } from './watched.ts'

type ExecVerb = Extract<RunEventBody, { type: 'exec' }>['verb']

/** One host's way through a run: its connection and its voice. */
export interface Lane extends Pick<Link, 'connection' | 'reconnect' | 'renew'> {
  readonly run: Run
  readonly play: HostPlay
  readonly become: Become | null
  readonly watch: StallWatch
  /** Runs one remote command and tells of it. */
  exec(verb: ExecVerb, how: () => Promise<ScriptAnswer>): Promise<ScriptAnswer>
}

/** Takes one host from connecting to its outcome. Never throws: whatever goes wrong is this host's outcome. */
export const runLane = async (run: Run, play: HostPlay): Promise<Outcome> => {
  const started = performance.now()
  const host = play.host.name
  emit(run, { type: 'host-started', host })
  const end = ({ outcome, changes, error }: Converged): Outcome => {
    emit(run, {
      type: 'host-ended',
      host,
      outcome,
      changes,
      ms: ms(started),
      ...(error !== undefined && { error: errorReport(error) }),
    })
    return outcome
  }
  const watch = watchHost(run, host)
  let link: Link | undefined
  try {
    link = await openLink(run, play.host, watch)
    const { retries, connection } = link
    const server = connection.serverVersion
    emit(run, { type: 'host-connected', host, ms: ms(started), server, ...(retries > 0 && { retries }) })
    return end(await converge(laneOf(run, play, { link, watch })))
  } catch (thrown) {
    const error = toDroverError(thrown).at({ host })
    if (error.code === 'internal') run.onFault?.(host, thrown)
    return end({ outcome: outcomeOf(error.code), changes: 0, error })
  } finally {
    await link?.close()
  }
}

const laneOf = (run: Run, play: HostPlay, { link, watch }: { link: Link; watch: StallWatch }): Lane => {
  const become = run.becomeOf(play.host)
  let current = ''
  return {
    run,
    play,
    get connection() {
      return watched(link.connection, watch, () => current)
    },
    reconnect: link.reconnect,
    renew: link.renew,
    become,
    watch,
    exec: async (verb, how) => {
      const started = performance.now()
      // A command that is taken up again goes on where it was.
      if (verb !== current) watch.at(`the start of ${verb}`)
      current = verb
      watch.opening(openingPlace(verb, become))
      try {
        const answer = await how()
        emit(run, { type: 'exec', host: play.host.name, verb, ms: ms(started), code: answer.code })
        return answer
      } catch (thrown) {
        emit(run, { type: 'exec', host: play.host.name, verb, ms: ms(started), code: -1 })
        throw thrown
      } finally {
        watch.rest()
      }
    },
  }
}

const ms = (since: number): number => Math.round(performance.now() - since)
