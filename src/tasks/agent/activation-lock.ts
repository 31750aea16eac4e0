import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { activationLock } from './paths.ts'
import { keyValues } from './probe-answer.ts'

/** drover's own holder of the lock. With nothing armed it is what a dead run left, and gives way to the next one. */
const guardUnit = 'drover-guard.service'

export const activationLockFacts = (): Fact[] => [{ kind: 'probe', name: 'activation-lock', args: [activationLock] }]

/** Who is activating a binary at this moment, if it is not us: the agent, its installer, or a move (domain.md 1.3). */
export const lockRefusal = (view: HostView): ErrorDetails | null => {
  const answer = keyValues(view.probe('activation-lock', [activationLock]).stdout)
  if (answer.get('lock') !== 'held') return null
  const [pid = '?', name = '?', unit = '-'] = (answer.get('holder') ?? '').split(' ')
  if (unit === guardUnit) return null
  const where = unit === '-' ? '' : ` of ${unit}`
  return {
    code: 'activation-locked',
    message: `The agent's activation lock ${activationLock} is held by process ${pid} (${name})${where}.`,
    remedy: 'An activation or a move of the agent is under way. Wait until it is over, then run again.',
  }
}
