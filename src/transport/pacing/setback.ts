import type { ErrorDetails } from '../../errors.ts'
import { DroverError } from '../../errors.ts'

/**
 * Why a connection ended before anybody was logged in, where trying again may help.
 * `dropped`: closed or reset before the far side had said anything. `cut`: the same after its SSH greeting.
 * `crowded`: it says that too many logins are under way. `refused`: nothing listens there at this moment.
 * `shut-out`: it says that it lets nobody of this machine in just now. `exhausted`: this machine has no socket left.
 * `way-lost`: the jump host's connection ended under it. `slow`: it greeted us, and was not ready in time. `late`: it did
 * not go on in time, which is a setback only where others get in. `hung-up`: it ended the login instead of an answer.
 */
export type SetbackKind =
  | 'dropped'
  | 'cut'
  | 'crowded'
  | 'refused'
  | 'shut-out'
  | 'exhausted'
  | 'way-lost'
  | 'slow'
  | 'late'
  | 'hung-up'

/** An error of a connection that may be tried again. Every other error is the last word. */
export class Setback extends DroverError {
  readonly kind: SetbackKind
  /** What it means where it comes again and again; undefined: the same. */
  readonly ifAgain: ErrorDetails | undefined

  constructor(kind: SetbackKind, details: ErrorDetails, ifAgain?: ErrorDetails) {
    super(details)
    this.kind = kind
    this.ifAgain = ifAgain
  }
}
