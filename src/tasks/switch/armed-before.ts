import type { ErrorDetails } from '../../errors.ts'
import { type Armed, armedOf } from '../../facts/armed.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { armedWords } from '../agent/rollback-words.ts'
import { blocked, type Planned, planned } from '../task.ts'

/**
 * Rule U4: what a dead run armed is confirmed where it guards the very thing that is wanted, and that was seen to be
 * healthy; otherwise nobody but its own run, a person or the host may decide. Null: nothing is armed.
 */
export const armedBefore = (
  view: HostView,
  host: Host,
  isWantedAndHealthy: (candidate: string) => boolean,
): Planned | null => {
  const armed = armedOf(view.self)
  if (armed === null) return null
  if (armed.phase === 'armed' && armed.run !== '' && isWantedAndHealthy(armed.candidate))
    return planned([{ kind: 'confirm', run: armed.run }])
  return blocked(rollbackArmed(armed, view.os.uptimeS, host.name))
}

const rollbackArmed = (armed: Armed, uptimeS: number, name: string): ErrorDetails => {
  const words = armedWords(armed, uptimeS)
  return {
    code: 'rollback-armed',
    message: `${words.charAt(0).toUpperCase()}${words.slice(1)}, and it is not what this step wants, or does not run well.`,
    remedy:
      armed.phase === 'undoing'
        ? 'Wait until it is over, then run again.'
        : `drover confirm -l ${name} keeps what it guards, drover rollback --now -l ${name} undoes it at once. Or wait, then run again.`,
  }
}
