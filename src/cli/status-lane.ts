import { DroverError, toDroverError } from '../errors.ts'
import { questionFor } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import { Unreadable } from '../facts/unknown.ts'
import { viewOf } from '../facts/view.ts'
import type { Host } from '../inventory/host.ts'
import { inspectHost } from '../runner/inspect-host.ts'
import { errorReport } from '../runner/outcome.ts'
import type { Run } from '../runner/run.ts'
import { unreadable } from '../runner/unreadable.ts'
import { assess, statusFacts } from '../tasks/agent/assess.ts'
import type { Become } from '../transport/become.ts'
import type { Connection } from '../transport/connection.ts'
import type { StatusRow } from './status-row.ts'

/** One host's row: one connection, one command, nothing written. Never throws. */
export const statusLane = async (run: Run, host: Host): Promise<StatusRow> => {
  let connection: Connection | undefined
  try {
    if (run.softStop.aborted) throw notLookedAt()
    connection = await run.transport.connect(host, { signal: run.hardStop })
    const { state, sudo } = await read(run, host, connection)
    const status = assess(viewOf(state), host)
    return { host: host.name, withoutRoot: state.os.uid !== 0, ...(sudo !== undefined && { sudo }), status }
  } catch (thrown) {
    return { host: host.name, withoutRoot: false, error: errorReport(asError(thrown).at({ host: host.name })) }
  } finally {
    await connection?.close().catch(() => undefined)
  }
}

const read = async (run: Run, host: Host, connection: Connection): Promise<{ state: HostState; sudo?: string }> => {
  const inspect = (become: Become | null): Promise<HostState> =>
    inspectHost(
      { run, play: { host, steps: [] }, connection, become, exec: (_verb, how) => how() },
      'inspect',
      questionFor(statusFacts(host)),
    )
  try {
    return { state: await inspect(run.becomeOf(host)) }
  } catch (thrown) {
    // Much can be seen without root, and a table that says so is worth more than a refusal.
    if (run.becomeOf(host) !== null && thrown instanceof DroverError && thrown.code === 'become-failed')
      return { state: await inspect(null), sudo: thrown.message }
    throw thrown
  }
}

const asError = (thrown: unknown): DroverError =>
  thrown instanceof Unreadable ? new DroverError(unreadable(thrown)) : toDroverError(thrown)

const notLookedAt = (): DroverError =>
  new DroverError({
    code: 'cancelled',
    message: 'Interrupted before this host was looked at.',
    remedy: 'Run drover status again.',
  })
