import { randomBytes } from 'node:crypto'
import { sha256 } from '../changes/predict.ts'
import { DroverError } from '../errors.ts'
import { leaseTtlS } from '../facts/holder.ts'
import { shellSource } from '../facts/shell-source.ts'
import { printableText as printable } from '../printable.ts'
import { runScript } from '../transport/run-script.ts'
import { applyError } from './apply-errors.ts'
import { type ApplyProgress, followApply } from './apply-progress.ts'
import { applyScript } from './apply-script.ts'
import type { Lane } from './lane.ts'
import type { PlannedChange } from './plan.ts'

const maxBytes = 16 * 1024 * 1024

const source = (url: string): string => shellSource(new URL(url, import.meta.url))

/**
 * Performs all changes of a segment in one exec. Resolves when every change was made; rejects with the error
 * of the one that was not. Progress is told as it happens.
 */
export const applyHost = async (
  lane: Lane,
  changes: readonly PlannedChange[],
  onProgress: (progress: ApplyProgress) => void,
): Promise<void> => {
  const { run } = lane
  const token = randomBytes(12).toString('hex')
  const { script, content, deadlineS } = applyScript(run, changes, token)
  const progress = followApply(token, onProgress)
  const sized = (bytes: Buffer): [string, string] => [String(bytes.length), sha256(bytes)]
  const answer = await lane.exec('apply', () =>
    runScript(lane.connection, {
      run: run.id,
      verb: 'apply',
      script: source('../facts/inspect/lease.sh') + source('../changes/apply/main.sh'),
      args: [run.id, run.operator, String(deadlineS), ...sized(script), ...sized(content), String(leaseTtlS), token],
      payload: Buffer.concat([script, content]),
      become: lane.become,
      deadlineMs: deadlineS * 1000 + run.deadlines.applyGraceMs,
      maxBytes,
      onStdout: progress.push,
      signal: run.hardStop,
    }),
  )
  const error = applyError(answer.code, printable(answer.stderr.toString('utf8')).trim(), progress.end(), changes)
  if (error !== null) throw new DroverError(error)
}

/** Lets the host go where the lane ends without a last check: between two segments, or when that check fails. */
export const releaseHost = async (lane: Lane): Promise<void> => {
  await runScript(lane.connection, {
    run: lane.run.id,
    verb: 'release',
    script: source('../facts/inspect/lease.sh') + source('../changes/apply/release.sh'),
    args: [lane.run.id, lane.run.operator, String(leaseTtlS)],
    become: lane.become,
    deadlineMs: 20_000,
    maxBytes,
  })
}

/** What systemd still has queued after it. Second Ctrl-C: ends the run's apply on the host, if it has one, between two changes or by force. */
export const cancelApply = async (lane: Lane): Promise<string> => {
  const answer = await runScript(lane.connection, {
    run: lane.run.id,
    verb: 'cancel',
    script: source('../facts/inspect/lease.sh') + source('../changes/apply/cancel.sh'),
    args: [lane.run.id, '10', lane.run.operator],
    become: lane.become,
    deadlineMs: 40_000,
    maxBytes,
  })
  if (answer.code !== 0) throw new Error(printable(answer.stderr.toString('utf8')))
  return printable(answer.stdout.toString('utf8')).trim()
}
