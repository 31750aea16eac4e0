import type { ErrorDetails } from '../../errors.ts'
import type { Deployment } from '../agent/deployment.ts'
import { agentUnit } from '../agent/names.ts'
import { daemonStateFile } from '../agent/paths.ts'

const needsRoot: ErrorDetails = {
  code: 'inspect-failed',
  message: `Without root rights ${daemonStateFile} cannot be read, and with it which worker is the active one.`,
  remedy: 'Log in as root, or get root rights through sudo: -b, or `become: true` in the inventory.',
}

export const systemdSilent = (error: string): ErrorDetails => ({
  code: 'inspect-failed',
  message: `systemd on the host does not answer, so nothing can be said of its units: ${error}.`,
  remedy: 'Look at the host by hand: is systemd PID 1, and does `systemctl status` answer?',
})

export const agentMissing: ErrorDetails = {
  code: 'agent-missing',
  message: `No agent is installed on the host: there is no ${agentUnit}.`,
  remedy: 'Take the host out with --limit, or install the agent first.',
}

/** O-15: which side is active is never guessed; the machines that run are named to help a person decide. */
export const stateUnreadable = (deployment: Deployment): ErrorDetails => {
  const { daemonState } = deployment
  if (daemonState === null) return needsRoot
  const why = daemonState.ok ? '' : daemonState.error
  const running = deployment.workers.filter(({ activeState }) => activeState === 'active').map(({ unit }) => unit)
  return {
    code: 'state-unreadable',
    message: `Which worker is the active one cannot be said: ${why}. Running now: ${running.length === 0 ? 'none' : running.join(', ')}.`,
    remedy: `Look at ${daemonStateFile} and its .sha256 on the host. The agent writes both; drover guesses nothing and never edits them.`,
  }
}
