import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { agentUnit } from '../agent/names.ts'
import { layoutEntry } from '../agent/paths.ts'
import type { Finding } from '../task.ts'
import { type Ready, readReady } from './ready.ts'
import { isStopped } from './restart.ts'

/** The agent runs this very binary, by way of `current`: now. That it stays up, and all else that makes it healthy, is for `isProved` to say. */
export const runsBinary = (view: HostView, sha256: string): Ready | null => {
  const ready = readReady(view)
  if ('code' in ready || ready.layout.isPlain || ready.layout.currentSha256 !== sha256) return null
  const exe = view.realPath(layoutEntry(ready.layout.root, 'current'))
  return ready.service.activeState === 'active' && ready.service.exe === exe ? ready : null
}

/** Rule U5: said whenever the agent's being stopped leaves something unproved. */
export const notProved = (ready: Ready): Finding[] =>
  isStopped(ready)
    ? [
        warning({
          check: 'not-health-checked',
          target: agentUnit,
          message: 'the agent is stopped, and stays stopped: whether it would run well was not seen',
          remedy: `If it is to run: systemctl start ${agentUnit}, then the playbook again.`,
        }),
      ]
    : []
