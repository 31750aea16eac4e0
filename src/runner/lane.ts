import { toDroverError } from '../errors.ts'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Become } from '../transport/become.ts'
import type { Connection } from '../transport/connection.ts'
import type { ScriptAnswer } from '../transport/run-script.ts'
import type { Converged } from './conclude.ts'
import { converge } from './converge.ts'
import type { Outcome } from './events.ts'
import { errorReport, outcomeOf } from './outcome.ts'
import { emit, type Run } from './run.ts'

/** One host's way through a run: its connection and its voice. */
export interface Lane {
  readonly run: Run
  readonly play: HostPlay
  readonly connection: Connection
  readonly become: Become | null
  /** Runs one remote command and tells of it. */
  exec(verb: 'inspect' | 'apply' | 'verify', how: () => Promise<ScriptAnswer>): Promise<ScriptAnswer>
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
  let connection: Connection | undefined
  try {
    connection = await run.transport.connect(play.host, { signal: run.hardStop })
    emit(run, { type: 'host-connected', host, ms: ms(started), server: connection.serverVersion })
    return end(await converge(laneOf(run, play, connection)))
  } catch (thrown) {
    const error = toDroverError(thrown).at({ host })
    if (error.code === 'internal') run.onFault?.(host, thrown)
    return end({ outcome: outcomeOf(error.code), changes: 0, error })
  } finally {
    await close(connection)
  }
}

const laneOf = (run: Run, play: HostPlay, connection: Connection): Lane => ({
  run,
  play,
  connection,
  become: run.becomeOf(play.host),
  exec: async (verb, how) => {
    const started = performance.now()
    try {
      const answer = await how()
      emit(run, { type: 'exec', host: play.host.name, verb, ms: ms(started), code: answer.code })
      return answer
    } catch (thrown) {
      emit(run, { type: 'exec', host: play.host.name, verb, ms: ms(started), code: -1 })
      throw thrown
    }
  },
})

/** What was found stands, whatever becomes of the connection. */
const close = async (connection: Connection | undefined): Promise<void> => {
  try {
    await connection?.close()
  } catch {
    // It is gone either way.
  }
}

const ms = (since: number): number => Math.round(performance.now() - since)
