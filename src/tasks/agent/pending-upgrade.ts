import type { HostView } from '../../facts/view.ts'
import type { Finding } from '../task.ts'
import { warning } from './finding.ts'
import { LEGACY, layoutEntry, ROOT, upgradeSignalFile } from './paths.ts'
import { readUpgradeSignal } from './upgrade-signal.ts'

/** An upgrade's verdict comes within six minutes (domain.md 7.6); after ten nobody is going to give it. */
const staleAfterS = 600

/** Rule W8: recovery is offered and never made, and the file is never deleted. Needs root. */
export const pendingUpgrade = (view: HostView): Finding[] => {
  const signal = readUpgradeSignal(view)
  if (signal === null) return []
  const operation = signal.operation === null ? 'an upgrade' : `the upgrade ${signal.operation}`
  const minutes = Math.floor(signal.ageS / 60)
  const stale = signal.ageS >= staleAfterS
  return [
    ...(stale
      ? [
          warning({
            check: 'upgrade-signal-stale',
            target: upgradeSignalFile,
            message: `the verdict on ${operation} has been pending for ${minutes} minutes`,
            remedy: `${waiting} Never delete the file.`,
          }),
        ]
      : []),
    ...(signal.recoveryRequired
      ? [
          warning({
            check: 'recovery-required',
            target: upgradeSignalFile,
            message: `${operation} failed and the agent asks for a recovery`,
            remedy: stale
              ? waiting
              : 'Wait: the recovery unit runs by itself. After ten minutes it can be run by hand.',
          }),
        ]
      : []),
  ]
}

const waiting = `See why the agent cannot publish it, or run \`${layoutEntry(ROOT, 'last-good')} recover-agent-upgrade\` on the host (below ${LEGACY} where there is no ${ROOT}).`
