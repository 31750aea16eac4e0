import type { ErrorDetails } from '../../errors.ts'
import { agentUnit } from '../agent/names.ts'

/** Rule M1. */
export const anotherInstalled = (version: string): ErrorDetails => ({
  code: 'already-installed',
  message: `An agent is installed (${agentUnit} is there), and it is not ${version} as an install leaves it. Nothing was changed.`,
  remedy:
    'To have another release on a host that has an agent, run the playbook upgrade. To begin anew: reset it first.',
})

export const notStaged = (version: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${version} does not lie ready on the host, so no unit can name it.`,
  remedy: 'Add a step agent-staged with the same release before this one, as the playbook install has it.',
})
