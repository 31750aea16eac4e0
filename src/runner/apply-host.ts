import { randomBytes } from 'node:crypto'
import { sha256 } from '../changes/predict.ts'
import { DroverError, toDroverError } from '../errors.ts'
import { leaseTtlS } from '../facts/holder.ts'
import type { HostState } from '../facts/state.ts'
import { printableText as printable } from '../printable.ts'
import { runScript, type ScriptAnswer } from '../transport/script/run-script.ts'
import { applySource, releaseHost } from './apply-control.ts'
import { applyError, goesOn, rebooted, rebootedExit, withWhatGoesOn } from './apply-errors.ts'
import { type ApplyProgress, followApply } from './apply-progress.ts'
import { type ApplyChange, applyScript } from './apply-script.ts'
import { createCanceller } from './canceller.ts'
import type { Lane } from './lane.ts'
import { isLost } from './outlive.ts'

const maxBytes = 16 * 1024 * 1024

/** Losses in a row between which nothing at all was heard of the apply. */
const mostLosses = 10

/** The host as it was planned on. */
export interface Look {
  readonly os: Pick<HostState['os'], 'bootId' | 'pid1Start' | 'uptimeS'>
  /** Milliseconds since then. */
  readonly ageMs: number
}

/**
 * Performs all changes of a segment. Resolves when every change was made; rejects with the error of the one that was
 * not, and has let the host go then if it may. Progress is told as it happens. A connection that is lost is made anew, and the same script follows the apply
 * from the byte that has been seen; whichever exec of it comes first has started it.
 */
export const applyHost = async (
  lane: Lane,
  changes: readonly ApplyChange[],
  look: Look,
  onProgress: (progress: ApplyProgress) => void,
  mayRelease: () => boolean = () => true,
): Promise<void> => {
  const { run } = lane
  const { script, content, deadlineS } = applyScript(run, changes)
  const token = randomBytes(12).toString('hex')
  const wholeS = deadlineS + run.deadlines.applyGraceMs / 1000
  const program = script(token, look.os.uptimeS + look.ageMs / 1000 + wholeS)
  const until = performance.now() + wholeS * 1000
  const progress = followApply(token, onProgress)
  const canceller = createCanceller(lane, token)
  const sized = (bytes: Buffer): [string, string] => [String(bytes.length), sha256(bytes)]
  const attempt = (): Promise<ScriptAnswer> =>
    lane.exec('apply', () =>
      runScript(lane.connection, {
        run: run.id,
        verb: 'apply',
        script: applySource('main'),
        args: [
          ...[
            run.id,
            run.operator,
            String(leaseTtlS),
            token,
            String(progress.resume()),
            bootOf(look),
            String(deadlineS),
          ],
          ...[...sized(program), ...sized(content)],
        ],
        payload: Buffer.concat([program, content]),
        become: lane.become,
        deadlineMs: Math.max(until - performance.now(), 10_000),
        maxBytes,
        onStdout: progress.push,
        signal: canceller.abandoned,
      }),
    )
  try {
    const answer = await followed({ attempt, canceller, seen: () => progress.seen, until, deadlineS })
    if (answer.code === rebootedExit) throw rebooted()
    const error = applyError(answer.code, printable(answer.stderr.toString('utf8')).trim(), progress.end(), {
      host: lane.play.host.name,
      changes,
      isCancelled: run.hardStop.aborted,
    })
    if (error === null) return
    await canceller.done
    // What it left to be read has been read. A host that refused it has cleaned up by itself.
    const goingOn = answer.code === 0 && mayRelease() ? await releaseHost(lane).catch(() => '') : ''
    throw new DroverError(withWhatGoesOn(error, goingOn))
  } finally {
    canceller.dispose()
  }
}

/** As the script reads it from its own host. */
const bootOf = ({ os }: Look): string => `${os.bootId}-${os.pid1Start}`

interface Following {
  readonly attempt: () => Promise<ScriptAnswer>
  readonly canceller: ReturnType<typeof createCanceller>
  readonly seen: () => number
  readonly until: number
  readonly deadlineS: number
}

const followed = async ({ attempt, canceller, seen, until, deadlineS }: Following): Promise<ScriptAnswer> => {
  for (let losses = 1; ; losses += 1) {
    const before = seen()
    try {
      return await attempt()
    } catch (thrown) {
      if (canceller.abandoned.aborted) throw canceller.failure()
      if (!isLost(thrown)) throw thrown
      if (seen() > before) losses = 1
      if (losses > mostLosses || performance.now() > until) throw goesOn(thrown, deadlineS)
      await canceller.reconnect(thrown).catch((refused) => {
        throw goesOn(toDroverError(refused), deadlineS)
      })
    }
  }
}
