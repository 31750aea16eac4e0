import type { ErrorDetails } from '../errors.ts'
import type { ApplyEnd } from './apply-progress.ts'
import type { PlannedChange } from './plan.ts'

/** What to say of an apply that did not make all of its changes; null where it did. */
export const applyError = (
  code: number,
  stderr: string,
  end: ApplyEnd,
  changes: readonly PlannedChange[],
): ErrorDetails | null => {
  switch (code) {
    case 0:
      return endError(end, changes)
    case 75:
      return {
        code: 'locked',
        message: `Another run is at work on the host: ${stderr}.`,
        remedy: 'Wait for it to end, then run again. A run that died lets go by itself within a minute.',
      }
    case 96:
      return {
        code: 'apply-incomplete',
        message: 'The apply ended without a result, as it does when the host reboots in the middle.',
        remedy: 'Run again: every change is whole or not there, and the next run finishes the work.',
        detail: stderr,
      }
    default:
      return {
        code: 'apply-refused',
        message: `The host did not start drover's apply unit (exit code ${code}).`,
        remedy:
          'None of these changes was made. Read what the host says below; is /run full, or systemd not answering?',
        detail: stderr,
      }
  }
}

const endError = (end: ApplyEnd, changes: readonly PlannedChange[]): ErrorDetails | null => {
  switch (end.kind) {
    case 'complete':
      return null
    case 'failed': {
      const planned = changes[end.change]
      const known = planned?.change.failure
      return {
        code: known?.code ?? 'change-failed',
        message: known?.message ?? `The host could not ${planned?.summary ?? 'begin'} (exit code ${end.code}).`,
        remedy:
          known?.remedy ??
          'Read what the host says below and mend its cause; then run again, which takes up where this stopped.',
        ...(end.words !== '' && { detail: end.words }),
      }
    }
    case 'drifted':
      return {
        code: 'drifted',
        message: `The host has changed since it was read: ${end.found}. '${changes[end.change]?.summary ?? ''}' was not done, nor anything after it.`,
        remedy: 'Somebody or something else is at work there. Run again to plan on what is there now.',
      }
    case 'cancelled':
      return {
        code: 'cancelled',
        message: 'The run was interrupted between two changes.',
        remedy: 'Run again to finish the work.',
      }
    case 'broken':
      return {
        code: 'apply-incomplete',
        message: `The apply was ended from outside${end.change === null ? '' : ` during '${changes[end.change]?.summary ?? ''}'`} (systemd: ${end.verdict || 'no verdict'}).`,
        remedy: 'Run again: every change is whole or not there, and the next run finishes the work.',
        ...(end.words !== '' && { detail: end.words }),
      }
  }
}
