import type { Change, GuardScope } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { activationLock, daemonStateFile, layoutEntry, machineBinary, ROOT } from '../agent/paths.ts'
import type { Limits } from './limits.ts'
import { placeRefusal } from './places.ts'
import type { Ready } from './ready.ts'
import type { Restart } from './restart.ts'
import { undisturbed } from './undisturbed.ts'

export interface Guarded {
  /** For people: `upgrade to v0.4.0`. */
  readonly what: string
  /** What is to be confirmed: a digest. */
  readonly candidate: string
  /** Under the lock, and harmless by itself: it may stay whatever becomes of the switch. */
  readonly staging: readonly Change[]
  /** What the host undoes unless it is confirmed. */
  readonly switching: readonly Change[]
  readonly restart: Restart
}

/**
 * Everything that changes what the agent runs has this shape: the agent's own lock (U2), what is harmless, room for
 * the start, and then, behind the armed rollback, the switch, the restart and the proof.
 */
export const guarded = (view: HostView, ready: Ready, limits: Limits, group: Guarded): Change[] | ErrorDetails => {
  const { staging, switching, restart } = group
  const arm: Change = {
    kind: 'arm',
    what: group.what,
    candidate: group.candidate,
    withinMs: limits.confirm_within_s * 1000,
    scope: scopeOf(ready),
  }
  const [first = arm, ...rest] = [...staging, ...restart.room, arm, ...switching, ...restart.start, ...restart.awaits]
  const changes: Change[] = [
    { kind: 'hold', lock: activationLock, forS: limits.confirm_within_s + aheadS },
    { ...first, relies: [...(first.relies ?? []), ...undisturbed(view)] },
    ...rest,
  ]
  return placeRefusal(view, changes) ?? changes
}

/** Most that may pass between taking the lock and arming: a full window of the start limit, and digests of big files. */
const aheadS = 900

const scopeOf = ({ layout }: Ready): GuardScope => ({
  lock: activationLock,
  root: ROOT,
  worker: {
    stateFile: daemonStateFile,
    current: layoutEntry(layout.root, 'current'),
    inside: machineBinary('{machine}'),
  },
})
