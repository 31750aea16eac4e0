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
