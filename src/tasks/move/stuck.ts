import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { readHalfMoved } from '../agent/half-moved.ts'
import { agentUnit } from '../agent/names.ts'
import { LEGACY, movingMark, ROOT } from '../agent/paths.ts'
import { moveReason } from '../agent/root-words.ts'
import type { Movable } from './movable.ts'

/** The agent does not run the copy, so nothing at the old root may go. */
export const notFromRoot = (view: HostView, { hostRoot, service, startsPath }: Movable): ErrorDetails => ({
  code: 'move-stuck',
  message: `The agent is to run from ${ROOT} and ${service.exe === '' ? `runs nothing (it is ${service.activeState})` : `runs ${service.exe}`}; its unit starts ${startsPath}, and ${moveReason(readHalfMoved(view, hostRoot))}. Nothing at ${LEGACY} was removed.`,
  remedy: `Look at systemctl cat ${agentUnit} (does a drop-in run something else?) and at journalctl -u ${agentUnit}, put it right, and run again. Never delete ${movingMark} by hand.`,
})

/** What is removed at the old root may be the only binary that a recovery could bring back. */
export const notWhole: ErrorDetails = {
  code: 'move-stuck',
  message: `${ROOT} holds no whole installation: current and last-good do not both lead to a binary there. Nothing at ${LEGACY} was removed.`,
  remedy: `Look at ${ROOT}/lib/aks-flex-node and at the same directory below ${LEGACY}, which is whole, and bring back what is missing; then run again. Never delete ${movingMark} by hand.`,
}

/** A unit would be left with a helper that is gone (M6, M7). */
export const stillNeeded = (unit: string, helper: string): ErrorDetails => ({
  code: 'move-stuck',
  message: `${unit} names ${helper}, and there is none at ${ROOT} in its place. Nothing at ${LEGACY} was removed.`,
  remedy: `systemctl restart ${agentUnit} lets the agent write its helpers anew; if the unit still names the old one then, look at its journal.`,
})
