// What makes an agent that moves its files die, fail or hurry (AgentBuild's `moves`): files on the host, no other build.
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'

/** Points at which a moving agent can be made to die, in the order it passes them. */
export const dyingPoints = [
  'staging-built',
  'link-removed',
  'renamed',
  'units-rewritten',
  'restart-queued',
  'half-removed',
  'before-mark-removed',
] as const

/** The daemon kills itself there, once. */
export const dieAt = (host: LabHost, point: (typeof dyingPoints)[number]): Promise<void> =>
  host.put('/run/lab-die-at', point)

/** A shorter wait behind a shut gate (two minutes), and between a failure and the next start (30 s). */
export const shortGate = (host: LabHost, gateS: number, restartS: number): Promise<string> =>
  host.must(
    `echo "$2" >/run/lab-gate-s; d=/etc/systemd/system/$1.d; mkdir -p "$d"
     printf '[Service]\\nRestartSec=%s\\n' "$3" >"$d/91-story-restart.conf"; systemctl daemon-reload`,
    [AGENT_UNIT, String(gateS), String(restartS)],
  )

/** While it is so, no second pass gets beyond its units (M7). */
export const failSecondPass = (host: LabHost): Promise<void> => host.put('/run/lab-second-pass-fails', '')
export const letSecondPass = (host: LabHost): Promise<string> => host.must('rm -f /run/lab-second-pass-fails')

/** While it is so, a binary of the lab's says no version when it runs from ROOT: the copy is unfit. */
export const unfitCopy = (host: LabHost): Promise<void> => host.put('/run/lab-copy-unfit', '')
export const fitCopy = (host: LabHost): Promise<string> => host.must('rm -f /run/lab-copy-unfit')
