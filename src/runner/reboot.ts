import type { DroverError, ErrorCode, ErrorDetails } from '../errors.ts'
import { outcomeOf } from './outcome.ts'
import type { HostPlan, PlannedChange, StepPlan } from './plan.ts'

export type SegmentChange = PlannedChange & { readonly step: string }

/** What is done before the host is looked at again. */
export interface Segment {
  readonly changes: readonly SegmentChange[]
  /** The host is rebooted after them. */
  readonly reboot: SegmentChange | null
  /** Steps that must want nothing more after it. */
  readonly settles: readonly StepPlan[]
  /** Steps whose turn comes only after the next look, whatever can be said of them now. */
  readonly waits: readonly StepPlan[]
}

/**
 * A reboot ends a segment: what is planned after it is only a prediction, and is planned anew on the host that came up.
 * So does a step with an armed rollback: what comes after it would not be undone with it, and waits until it is confirmed.
 */
export const segmentOf = ({ steps }: Pick<HostPlan, 'steps'>): Segment => {
  const at = steps.findIndex(({ changes }) => changes.some((planned) => isReboot(planned) || isArm(planned)))
  const due = at < 0 ? steps : steps.slice(0, at + 1)
  const all = due.flatMap((step) => step.changes.map((change) => ({ ...change, step: step.name })))
  const reboot = all.findIndex(isReboot)
  // A step that wants more after it would want its reboot again at the next look, and for ever.
  if (reboot >= 0 && reboot < all.length - 1) throw new Error('a reboot is not the last change of its step')
  return {
    changes: reboot < 0 ? all : all.slice(0, reboot),
    reboot: all[reboot] ?? null,
    settles: due.filter(({ status }) => status === 'planned'),
    waits: steps.slice(due.length),
  }
}

const isReboot = ({ change }: Pick<PlannedChange, 'change'>): boolean => change.kind === 'reboot'
const isArm = ({ change }: Pick<PlannedChange, 'change'>): boolean => change.kind === 'arm'

/** What was seen of a host that was told to reboot. */
export interface Sights {
  /** The connection to it broke, or it was out of reach. */
  readonly wasAway: boolean
  /** Why it is out of reach now; null: it was reached, and was still on the boot from before. */
  readonly away: DroverError | null
}

export const nothingSeen: Sights = { wasAway: false, away: null }

export const isAway = (why: DroverError): Sights => ({ wasAway: true, away: why })
export const isUnchanged = ({ wasAway }: Sights): Sights => ({ wasAway, away: null })

/** What a host does that goes down or comes up. At that time it lets nobody but root log in, so a refusal may pass, too. */
const passing: readonly ErrorCode[] = [
  'resolve-failed',
  'connect-failed',
  'connect-timeout',
  'handshake-failed',
  'auth-failed',
  'channel-failed',
  'connection-lost',
  'command-timeout',
  'become-failed',
]

export const mayPass = ({ code }: DroverError): boolean => passing.includes(code)

/** The three ways in which a reboot comes to nothing within its time. */
export const rebootTimeout = ({ wasAway, away }: Sights, withinMs: number): ErrorDetails => {
  const within = `${Math.round(withinMs / 1000)} s`
  if (away !== null) {
    return {
      code: 'reboot-timeout',
      message: `The host went down to reboot and was not reached again within ${within}: ${away.message}`,
      remedy:
        'Look at its console. If it only takes longer, give the step a longer within_s; then run again, which takes up where this stopped.',
      ...(away.detail !== undefined && { detail: away.detail }),
      cause: away,
    }
  }
  if (wasAway) {
    return {
      code: 'reboot-timeout',
      message: `The host was lost for a while, but within ${within} it has not been booted: it is on the same boot as before.`,
      remedy:
        'Something stopped the reboot half-way, or only the network was gone: see systemctl list-jobs and journalctl -b on the host.',
    }
  }
  return {
    code: 'reboot-timeout',
    message: `The host was told to reboot and never went down within ${within}.`,
    remedy:
      'Something holds the reboot up: see systemctl list-jobs and systemd-inhibit --list on the host, and journalctl -u drover-reboot.service.',
  }
}

/** Whether nobody is left there to give up the host to: it is gone, or on its way. */
export const isOutOfReach = ({ code, cause }: ErrorDetails): boolean =>
  code === 'reboot-timeout' ? cause !== undefined : ['unreachable', 'cancelled'].includes(outcomeOf(code))

/** Second Ctrl-C: nothing on the workstation can stop a reboot. */
export const leftRebooting: ErrorDetails = {
  code: 'cancelled',
  message: 'The run was interrupted while the host was rebooting, which goes on without it.',
  remedy: 'Wait until the host is up; then run again to have it checked and the rest done.',
}

export const bootUnreadable: ErrorDetails = {
  code: 'precondition-unmet',
  message: 'Which boot the host is on cannot be read, so nobody could tell that it has been rebooted. It was not.',
  remedy: 'See why /proc/sys/kernel/random/boot_id and /proc/1/stat cannot be read on the host.',
}
