import type { Change } from '../changes/change.ts'
import { DroverError, type ErrorDetails } from '../errors.ts'
import type { ApplyEnd } from './apply-progress.ts'
import type { ApplyChange } from './apply-script.ts'
import { confirmError, fireError } from './rollback-errors.ts'

interface Applying {
  readonly host: string
  readonly changes: readonly ApplyChange[]
  /** By the second Ctrl-C. */
  readonly isCancelled: boolean
}

/** What to say of an apply that did not make all of its changes; null where it did. */
export const applyError = (code: number, stderr: string, end: ApplyEnd, applying: Applying): ErrorDetails | null => {
  switch (code) {
    case 0:
      return endError(end, applying)
    case 75:
      return {
        code: 'locked',
        message: `Another run is at work on the host: ${stderr}.`,
        remedy: 'Wait for it to end, then run again. A run that died lets go by itself within a minute.',
      }
    case 96:
      return {
        code: 'apply-incomplete',
        message: 'The apply ended without a result: it was killed with all that stood around it.',
        remedy: 'Run again: every change is whole or not there, and the next run finishes the work.',
        detail: stderr,
      }
    case 98:
      return interrupted
    default:
      return {
        code: 'apply-refused',
        message: `The host did not start drover's apply (exit code ${code}).`,
        remedy:
          'None of these changes was made. Read what the host says below; is /run full, or systemd not answering?',
        detail: stderr,
      }
  }
}

/** Exit code of main.sh on another boot than the one that was looked at. */
export const rebootedExit = 97

export const rebooted = (): DroverError =>
  new DroverError({
    code: 'apply-incomplete',
    message: 'The host was rebooted in the middle, which ended the apply.',
    remedy: 'Run again: every change is whole or not there, and the next run finishes the work.',
  })

const interrupted: ErrorDetails = {
  code: 'cancelled',
  message: 'The run was interrupted between two changes.',
  remedy: 'Run again to finish the work.',
}

/** What the host is still busy with although the apply is over. */
export const withWhatGoesOn = (error: ErrorDetails, goingOn: string): ErrorDetails => {
  if (goingOn === '' || !['cancelled', 'step-timeout', 'apply-incomplete'].includes(error.code)) return error
  const detail = [error.detail, `What goes on there by itself:\n${goingOn}`].filter((text) => text !== undefined)
  return { ...error, detail: detail.join('\n') }
}

/** The way to the host is lost for good, and the apply with it, but not for the host. */
export const goesOn = (error: DroverError, deadlineS: number): DroverError =>
  new DroverError({
    code: error.code,
    message:
      `${error.message.replace(/\.$/, '')}. If the apply had been started, it goes on by itself on the host ` +
      `(systemctl status drover-apply.service), for ${deadlineS} s at the most.`,
    remedy:
      'Run again when the host can be reached: as long as it is at work the host is held, and the next run finishes what is left.',
    ...(error.detail !== undefined && { detail: error.detail }),
    cause: error,
  })

/** What puts something into a file system, and nothing else that might say the same of another place. */
const putting: readonly Change['kind'][] = ['write', 'link', 'directory', 'upload', 'copy']

const isFull = (change: Change | undefined, words: string): boolean =>
  change !== undefined && putting.includes(change.kind) && /No space left on device|Disk quota exceeded/.test(words)

const noSpace = (summary: string, words: string): ErrorDetails => ({
  code: 'no-space',
  message: `The host could not ${summary}: its file system there has no room or no inode left.`,
  remedy: 'Make room there, then run again, which takes up where this stopped.',
  ...wordsOf(words),
})

const endError = (end: ApplyEnd, { host, changes, isCancelled }: Applying): ErrorDetails | null => {
  switch (end.kind) {
    case 'complete':
      return null
    case 'failed': {
      const planned = changes[end.change]
      const known = planned?.change.failure
      const rollback = known === undefined && planned !== undefined ? rollbackError(planned.change, end, host) : null
      if (rollback !== null) return rollback
      if (known === undefined && isFull(planned?.change, end.words)) return noSpace(planned?.summary ?? '', end.words)
      return {
        code: known?.code ?? 'change-failed',
        message: known?.message ?? `The host could not ${planned?.summary ?? 'begin'} (exit code ${end.code}).`,
        remedy:
          known?.remedy ??
          'Read what the host says below and mend its cause; then run again, which takes up where this stopped.',
        ...wordsOf(end.words),
      }
    }
    case 'drifted':
      return {
        code: 'drifted',
        message: `The host has changed since it was read: ${end.found}. '${changes[end.change]?.summary ?? ''}' was not done, nor anything after it.`,
        remedy: 'Somebody or something else is at work there. Run again to plan on what is there now.',
      }
    case 'cancelled':
      return interrupted
    case 'old':
      return {
        code: 'drifted',
        message: `The host came to begin ${end.seconds} s too late: it stood still after it had been looked at. Nothing was done.`,
        remedy: 'Run again to plan on what is there now.',
      }
    case 'late': {
      const planned = changes[end.change]
      return {
        code: 'step-timeout',
        message: `The step '${planned?.step ?? ''}' did not end within ${planned?.withinS ?? 0} s and was cut during '${planned?.summary ?? ''}'.`,
        remedy: 'See below what it waited for. Give it more time (--timeout, or timeout: of the step), then run again.',
        ...wordsOf(end.words),
      }
    }
    case 'broken': {
      const during = end.change === null ? '' : ` during '${changes[end.change]?.summary ?? ''}'`
      if (isCancelled)
        return {
          ...interrupted,
          message: `The run was interrupted, and the apply was cut${during}.`,
          ...wordsOf(end.words),
        }
      const isLate = end.verdict.startsWith('timeout ')
      return {
        code: 'apply-incomplete',
        message: isLate
          ? `The apply took longer than all of its changes may together, and was cut${during} (systemd: ${end.verdict}).`
          : `The apply was ended from outside${during} (systemd: ${end.verdict || 'no verdict'}).`,
        remedy: 'Run again: every change is whole or not there, and the next run finishes the work.',
        ...wordsOf(end.words),
      }
    }
  }
}

/** A rollback that is confirmed or fired as a change tells by its exit code how it stands, and by its words whose it is. */
const rollbackError = (
  change: Change,
  { code, words }: { code: number; words: string },
  host: string,
): ErrorDetails | null => {
  if (change.kind !== 'confirm' && change.kind !== 'fire') return null
  const [line = ''] = words.trim().split('\n')
  const of = { host, of: `run ${change.run}` }
  return (change.kind === 'confirm' ? confirmError : fireError)({ code, line, words }, of)
}

const wordsOf = (words: string): { detail?: string } => (words === '' ? {} : { detail: words })
