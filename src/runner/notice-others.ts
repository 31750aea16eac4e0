import { armedOf, rolledBackOf } from '../facts/armed.ts'
import { holderOf } from '../facts/holder.ts'
import type { HostState } from '../facts/state.ts'
import { armedWords, rolledBackWords } from '../tasks/agent/rollback-words.ts'
import type { Lane } from './lane.ts'
import { isOnlyLooking } from './plan.ts'
import { emit } from './run.ts'

/** A run without changes takes no lease and waits for nobody, but the operator should know of who else is there, or was. */
export const noticeOthers = ({ run, play }: Lane, { self, os }: HostState): void => {
  const notice = (message: string): void => emit(run, { type: 'notice', host: play.host.name, message })
  const other = holderOf(self)
  if (other !== null) notice(`somebody else is at work here: ${other}`)
  if (self.owed.length > 0 && isOnlyLooking(play, run.tasks))
    notice(`a cut run still owes ${self.owed.join(', ')}: the next run that changes anything here does it first`)
  const armed = armedOf(self)
  if (armed !== null) notice(armedWords(armed, os.uptimeS))
  const undone = rolledBackOf(self)
  if (undone !== null) notice(rolledBackWords(undone))
}
