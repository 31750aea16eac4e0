import type { ErrorDetails } from '../../errors.ts'
import { type Armed, armedOf } from '../../facts/armed.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { armedRemedy, armedWords } from '../agent/rollback-words.ts'
import { blocked, type Planned, planned } from '../task.ts'

/**
 * Rule U4: what a dead run armed is confirmed where it guards the very thing that is wanted, that runs, and the host has
 * seen the proof of it out: it stayed up as long as it had to, and the checks of the user's own came out well. Otherwise
 * nobody but its own run, a person or the host may decide. Null: nothing is armed.
 */
export const armedBefore = (
  view: HostView,
  host: Host,
  isWantedAndRuns: (candidate: string) => boolean,
): Planned | null => {
  const armed = armedOf(view.self)
  if (armed === null) return null
  const isWanted = armed.phase === 'armed' && armed.run !== '' && isWantedAndRuns(armed.candidate)
  if (isWanted && armed.isProved) return planned([{ kind: 'confirm', run: armed.run }])
  const why = isWanted
    ? 'what it guards is what this step wants, but it has not been proved: its run, or a check of its, did not come to an end'
    : 'it is not what this step wants, or does not run well'
  return blocked(rollbackArmed(view, armed, why, host.name))
}

const rollbackArmed = (view: HostView, armed: Armed, why: string, name: string): ErrorDetails => {
  const words = armedWords(armed, view.os.uptimeS)
  return {
    code: 'rollback-armed',
    message: `${words.charAt(0).toUpperCase()}${words.slice(1)}${armed.phase === 'undoing' ? '' : `, and ${why}`}.`,
    remedy: armedRemedy(armed, view.self, name),
  }
}
