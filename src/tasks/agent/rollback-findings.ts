import { armedOf, rolledBackOf } from '../../facts/armed.ts'
import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import type { Finding } from '../task.ts'
import { warning } from './finding.ts'
import { armedWords, notUpRemedy, rolledBackWords, undoingRemedy } from './rollback-words.ts'

/** What status tells of a rollback: one that is armed or under way, and the line of one that is over. */
export const rollbackFindings = ({ self, os }: HostView, { name }: Host): readonly Finding[] => {
  const armed = armedOf(self)
  if (armed !== null)
    return [
      warning({
        check: 'rollback-armed',
        target: 'rollback',
        message: armedWords(armed, os.uptimeS),
        remedy:
          armed.phase === 'undoing'
            ? undoingRemedy(name)
            : `drover confirm -l ${name} keeps what it guards, drover rollback --now -l ${name} undoes it at once.`,
      }),
    ]
  const undone = rolledBackOf(self)
  if (undone === null) return []
  const message = rolledBackWords(undone)
  const line = 'The next run that changes something here removes this line.'
  const remedy =
    undone.how === 'rolled-back-not-up'
      ? `${notUpRemedy(name)} ${line}`
      : `${line} See the report of that run for the cause.`
  return [warning({ check: 'rolled-back', target: 'rollback', message, remedy })]
}
