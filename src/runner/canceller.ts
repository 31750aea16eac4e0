import { DroverError } from '../errors.ts'
import { cancelApply } from './apply-control.ts'
import type { Lane } from './lane.ts'

/** What the second Ctrl-C does to an apply that is under way. */
export interface Canceller {
  /** The apply could not be ended, or said nothing after its end: it is followed no more. */
  readonly abandoned: AbortSignal
  /** Resolves when nothing is being cancelled. */
  readonly done: Promise<void>
  /** As the lane's, and then ends the apply if it is to be ended. */
  reconnect(why: DroverError): Promise<void>
  /** Why it was abandoned. */
  failure(): DroverError
  dispose(): void
}

/** An apply that has been ended tells so at once. */
const lastWordsMs = 5_000

/** A host that is out of reach while somebody waits for the end of the run. */
const reconnectMs = 15_000

const never = new AbortController().signal

/** The apply is ended by a command of its own, while the one that follows it hears out what it still did. */
export const createCanceller = (lane: Lane, token: string): Canceller => {
  const { hardStop } = lane.run
  const abandon = new AbortController()
  let done: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const cancel = (): void => {
    done = cancelApply(lane, token).then(
      () => {
        timer = setTimeout(() => abandon.abort(), lastWordsMs)
      },
      (thrown) => {
        // A connection that is lost is lost for the follower, too, and it is for that one to make it anew.
        if (!(thrown instanceof DroverError && thrown.code === 'connection-lost')) abandon.abort()
      },
    )
  }
  if (hardStop.aborted) cancel()
  else hardStop.addEventListener('abort', cancel, { once: true })
  return {
    abandoned: abandon.signal,
    get done() {
      return done
    },
    reconnect: async (why) => {
      await done
      if (!hardStop.aborted) {
        try {
          return await lane.reconnect(why)
        } catch (thrown) {
          if (!hardStop.aborted) throw thrown
        }
      }
      await lane.reconnect(why, { limitMs: reconnectMs, signal: never })
      cancel()
    },
    failure: () =>
      new DroverError({
        code: 'cancelled',
        message: 'The run was interrupted, and the apply on the host could not be ended.',
        remedy: 'It may still be at work: systemctl status drover-apply.service. Run again when it is over.',
      }),
    dispose: () => {
      clearTimeout(timer)
      hardStop.removeEventListener('abort', cancel)
    },
  }
}
