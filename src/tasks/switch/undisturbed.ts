import type { Expectation } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { lockRefusal } from '../agent/activation-lock.ts'
import { agentUnit } from '../agent/names.ts'
import { daemonStateFile, movingMark, ROOT, stagingRoot, upgradeSignalFile } from '../agent/paths.ts'
import type { AgentService } from '../agent/service.ts'
import type { Ready } from './ready.ts'

/** Why nobody may switch anything at this moment, although the host is as it should be. */
export const disturbance = (view: HostView, { deployment, service }: Ready): ErrorDetails | null => {
  const lock = lockRefusal(view)
  if (lock !== null) return lock
  if (deployment.signal !== null) {
    const { ageS, operation } = deployment.signal
    return {
      code: 'upgrade-pending',
      message: `The verdict on ${operation === null ? 'an upgrade that the cluster asked for' : `the upgrade ${operation}`} is pending for ${age(ageS)}: ${upgradeSignalFile} is there.`,
      remedy:
        'It comes within six minutes. Later the agent cannot publish it (look at its journal and at the API server); `recover-agent-upgrade` of the last-good binary gives it up. Never delete the file.',
    }
  }
  return beingStopped(service)
}

/** Rule U5: somebody stops it at this moment, and a restart would bring it back. */
export const beingStopped = ({ activeState }: Pick<AgentService, 'activeState'>): ErrorDetails | null =>
  activeState !== 'deactivating'
    ? null
    : {
        code: 'precondition-unmet',
        message: `${agentUnit} is just being stopped.`,
        remedy: 'Run again when it has stopped: then it stays stopped.',
      }

const age = (seconds: number): string => (seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`)

/**
 * What the plan took for granted and the agent could have changed until drover had its lock: a move, an upgrade of
 * its own, the other side of the worker. Looked at once more under the lock.
 */
export const undisturbed = (view: HostView): Expectation[] => {
  const root = view.node(ROOT)
  const digest = view.sha256(daemonStateFile)
  return [
    root.type === 'symlink'
      ? { path: ROOT, is: 'symlink', target: root.target }
      : { path: ROOT, is: root.type === 'directory' ? 'directory' : 'absent' },
    { path: movingMark, is: 'absent' },
    { path: stagingRoot, is: 'absent' },
    { path: upgradeSignalFile, is: 'absent' },
    ...(digest === null ? [] : [{ path: daemonStateFile, is: 'file', sha256: digest } as const]),
  ]
}
