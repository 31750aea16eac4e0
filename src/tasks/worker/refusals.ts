import type { ErrorDetails } from '../../errors.ts'
import type { Deployment } from '../agent/deployment.ts'
import { agentUnit } from '../agent/names.ts'
import { daemonStateFile } from '../agent/paths.ts'

export const agentMissing: ErrorDetails = {
  code: 'agent-missing',
  message: `No agent is installed on the host: there is no ${agentUnit}.`,
  remedy: 'Take the host out with --limit, or install the agent first.',
}

/** O-15: which side is active is never guessed; the machines that run are named to help a person decide. */
export const stateUnreadable = (why: string, deployment: Deployment): ErrorDetails => {
  const running = deployment.workers.filter(({ activeState }) => activeState === 'active').map(({ unit }) => unit)
  return {
    code: 'state-unreadable',
    message: `Which worker is the active one cannot be said: ${why}. Running now: ${running.length === 0 ? 'none' : running.join(', ')}.`,
    remedy: `Look at ${daemonStateFile} and its .sha256 on the host. The agent writes both; drover guesses nothing and never edits them.`,
  }
}
