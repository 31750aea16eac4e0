import { DroverError, toDroverError } from '../errors.ts'
import { questionFor } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import { Unreadable } from '../facts/unknown.ts'
import { viewOf } from '../facts/view.ts'
import type { Host } from '../inventory/host.ts'
import { inspectHost } from '../runner/inspect-host.ts'
import { type Link, openLink } from '../runner/link.ts'
import { errorReport } from '../runner/outcome.ts'
import type { Run } from '../runner/run.ts'
import { noWatch } from '../runner/stall.ts'
import { unreadable } from '../runner/unreadable.ts'
import { assess, statusFacts } from '../tasks/agent/assess.ts'
import type { Become } from '../transport/become/become.ts'
import type { StatusRow } from './status-row.ts'

/** One host's row: one connection, one command, nothing written. Never throws. */
export const statusLane = async (run: Run, host: Host): Promise<StatusRow> => {
  let link: Link | undefined
  try {
    if (run.softStop.aborted) throw notLookedAt()
    link = await openLink(run, host)
    const { state, sudo } = await read(run, host, link)
    const status = assess(viewOf(state), host)
    return { host: host.name, withoutRoot: state.os.uid !== 0, ...(sudo !== undefined && { sudo }), status }
  } catch (thrown) {
    return { host: host.name, withoutRoot: false, error: errorReport(asError(thrown).at({ host: host.name })) }
  } finally {
    await link?.close()
  }
}

const read = async (run: Run, host: Host, link: Link): Promise<{ state: HostState; sudo?: string }> => {
  const inspect = (become: Become | null): Promise<HostState> =>
    inspectHost(
      {
        run,
        play: { host, steps: [] },
        get connection() {
          return link.connection
        },
        reconnect: link.reconnect,
        renew: link.renew,
        become,
        watch: noWatch,
        exec: (_verb, how) => how(),
      },
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
