import { setTimeout as sleep } from 'node:timers/promises'
import { DroverError, type ErrorDetails, toDroverError } from '../errors.ts'
import { readAnswer } from '../facts/answer.ts'
import { AnswerError } from '../facts/answer-error.ts'
import { leaseTtlS } from '../facts/holder.ts'
import { inspectScript, questionFor } from '../facts/question.ts'
import { shellSource } from '../facts/shell-source.ts'
import type { OsFacts } from '../facts/state.ts'
import { printableText as printable } from '../printable.ts'
import { runScript, type ScriptAnswer, type ScriptRequest } from '../transport/script/run-script.ts'
import { journalLine } from './apply-script.ts'
import { stepLimitS } from './apply-segment.ts'
import type { Applied, Failure } from './conclude.ts'
import { type BootIdentity, bootOf, isSameBoot, machineOf, wrongMachine } from './identity.ts'
import type { Lane } from './lane.ts'
import { errorReport } from './outcome.ts'
import {
  bootUnreadable,
  isAway,
  isUnchanged,
  leftRebooting,
  mayPass,
  nothingSeen,
  rebootTimeout,
  type SegmentChange,
  type Sights,
} from './reboot.ts'
import { emit } from './run.ts'

const maxBytes = 4 * 1024 * 1024

/** A host that is going down may begin an answer and never end it. */
const lookMs = 30_000

/** Between two looks at a host that is still up. */
const pauseMs = 500

/** Has the host reboot as a change of its step, and tells of it as of any other. */
export const rebootSegment = async (
  lane: Lane,
  planned: SegmentChange,
  before: OsFacts,
  applied: Applied,
): Promise<Failure | null> => {
  const { step, summary, change } = planned
  if (change.kind !== 'reboot') throw new Error('not a reboot')
  const withinMs = Math.min(change.withinMs, (stepLimitS(lane, step) ?? Number.POSITIVE_INFINITY) * 1000)
  const place = { host: lane.play.host.name, step, summary }
  emit(lane.run, { type: 'change-started', ...place, waitMs: withinMs })
  try {
    await rebootHost(lane, withinMs, before)
  } catch (thrown) {
    const error = toDroverError(thrown)
    emit(lane.run, { type: 'change-failed', ...place, error: errorReport(error) })
    return { step: { name: step }, error: { ...errorReport(error), cause: error.cause }, isMidway: true }
  }
  applied.set(step, [...(applied.get(step) ?? []), planned])
  emit(lane.run, { type: 'change-done', ...place })
  return null
}

/** Resolves when the host is up on another boot and has finished starting. */
const rebootHost = async (lane: Lane, withinMs: number, before: OsFacts): Promise<void> => {
  const boot = bootOf(before)
  if (boot === null) throw new DroverError(bootUnreadable)
  const ends = performance.now() + withinMs
  const left = (): number => Math.max(0, Math.round(ends - performance.now()))
  await cancellable(lane, tell(lane))
  lane.watch.at('reboot: waiting for the host to go down', withinMs)
  await cancellable(lane, untilBooted(lane, { before, boot, withinMs, left }))
  await cancellable(lane, untilStarted(lane, left))
}

/** Whatever a second Ctrl-C breaks off: what the host does now is beyond its reach. */
const cancellable = async (lane: Lane, doing: Promise<void>): Promise<void> => {
  try {
    await doing
  } catch (thrown) {
    throw lane.run.hardStop.aborted ? new DroverError({ ...leftRebooting, cause: thrown }) : thrown
  }
}

/** The host's word that it will. Where the line breaks before it comes, the host itself is looked at, as it is in any case. */
const tell = async (lane: Lane): Promise<void> => {
  const { run } = lane
  const { code, stderr } = await script(lane, 'reboot', {
    args: [run.id, run.operator, String(leaseTtlS), journalLine(run, [{ summary: 'reboot' }])],
    deadlineMs: lookMs,
  }).catch((thrown: unknown) => {
    if (isLossOf(thrown)) return { code: 0, stderr: Buffer.alloc(0) }
    throw thrown
  })
  if (code !== 0) throw new DroverError(refused(code, printable(stderr.toString('utf8')).trim()))
}

const isLossOf = (thrown: unknown): boolean =>
  thrown instanceof DroverError && ['connection-lost', 'command-timeout'].includes(thrown.code)

const refused = (code: number, words: string): ErrorDetails =>
  code === 75
    ? {
        code: 'locked',
        message: `Another run is at work on the host: ${words}. It was not rebooted.`,
        remedy: 'Wait for it to end, then run again. A run that died lets go by itself within a minute.',
      }
    : {
        code: 'apply-refused',
        message: `The host would not be told to reboot (exit code ${code}).`,
        remedy: 'It was not rebooted. Read what the host says below; is /run full, or systemd not answering?',
        detail: words,
      }

interface Awaited {
  readonly before: OsFacts
  readonly boot: BootIdentity
  readonly withinMs: number
  readonly left: () => number
}

const untilBooted = async (lane: Lane, { before, boot, withinMs, left }: Awaited): Promise<void> => {
  let sights: Sights = nothingSeen
  while (left() > 0) {
    if (await untilDown(lane, left())) sights = { ...sights, wasAway: true }
    if (left() <= 0) break
    try {
      const isFinal = (error: DroverError): boolean => {
        sights = isAway(error)
        return !mayPass(error)
      }
      await lane.reconnect(goingDown, { limitMs: left(), isFinal })
    } catch (thrown) {
      const error = toDroverError(thrown)
      if (!mayPass(error)) throw thrown
      // Its time was over in the middle of an attempt.
      sights = isAway(error.cause instanceof DroverError ? error.cause : error)
      break
    }
    const seen = await look(lane, Math.min(lookMs, left() + 1000)).catch(unlessPassing)
    const now = seen === null ? null : bootOf(seen)
    if (seen !== null && now !== null && !isSameBoot(boot, now)) {
      const wrong = wrongMachine(machineOf(before), seen)
      if (wrong !== null) throw new DroverError(wrong)
      return
    }
    sights = isUnchanged(sights)
    await sleep(pauseMs, undefined, { signal: lane.run.hardStop })
  }
  throw new DroverError(rebootTimeout(sights, withinMs))
}

/** A host on its way down or up may break off in the middle of a word. */
const unlessPassing = (thrown: unknown): null => {
  if (thrown instanceof AnswerError || mayPass(toDroverError(thrown))) return null
  throw thrown
}

const goingDown = new DroverError({
  code: 'connection-lost',
  message: 'The host was told to reboot.',
  remedy: 'Wait for it.',
})

/** Whether the connection went down, with the host or by itself. Whatever else becomes of the command says nothing. */
const untilDown = async (lane: Lane, ms: number): Promise<boolean> => {
  try {
    await script(lane, 'until-down', { args: [String(Math.ceil(ms / 1000))], deadlineMs: ms })
    return false
  } catch (thrown) {
    if (lane.run.hardStop.aborted) throw thrown
    return toDroverError(thrown).code === 'connection-lost'
  }
}

const question = questionFor([])

const look = async (lane: Lane, deadlineMs: number): Promise<OsFacts> => {
  const answer = await exec(lane, { ...inspectScript(question), deadlineMs })
  return readAnswer(question, answer.stdout.toString('latin1')).os
}

/** A host that takes longer is told of, and what the steps want of it decides: a unit that never starts is no bad reboot. */
const untilStarted = async (lane: Lane, left: () => number): Promise<void> => {
  for (;;) {
    lane.watch.at('reboot: waiting for the host to finish starting', left())
    try {
      const ms = left()
      const answer = await script(lane, 'until-started', {
        args: [String(Math.floor(ms / 1000))],
        deadlineMs: ms + lookMs,
      })
      if (answer.code !== 0) stillStarting(lane, printable(answer.stdout.toString('utf8')).trim())
      return
    } catch (thrown) {
      const error = toDroverError(thrown)
      if (!mayPass(error) || left() <= 0) throw thrown
      await lane.reconnect(error, { limitMs: Math.max(left(), lookMs), isFinal: (why) => !mayPass(why) })
    }
  }
}

const stillStarting = ({ run, play }: Lane, jobs: string): void =>
  emit(run, {
    type: 'notice',
    host: play.host.name,
    message: `the host is up again and has not finished starting in time${jobs === '' ? '' : `; it still works on: ${jobs.replaceAll(/\s*\n\s*/g, ', ').replaceAll(/ +/g, ' ')}`}`,
  })

type Wanted = Pick<ScriptRequest, 'args' | 'deadlineMs'>

const source = (path: string): string => shellSource(new URL(`../${path}.sh`, import.meta.url))

const script = (lane: Lane, name: 'reboot' | 'until-down' | 'until-started', wanted: Wanted): Promise<ScriptAnswer> =>
  exec(lane, {
    ...wanted,
    script:
      (name === 'reboot' ? source('facts/inspect/lease') + source('changes/apply/unit') : '') +
      source(`changes/apply/${name}`),
  })

const exec = (lane: Lane, request: Wanted & { readonly script: string }): Promise<ScriptAnswer> =>
  lane.exec('reboot', () =>
    runScript(lane.connection, {
      run: lane.run.id,
      verb: 'reboot',
      become: lane.become,
      maxBytes,
      signal: lane.run.hardStop,
      ...request,
    }),
  )
