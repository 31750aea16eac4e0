import { DroverError } from '../errors.ts'
import { readAnswer } from '../facts/answer.ts'
import { AnswerError } from '../facts/answer-error.ts'
import { lastSection } from '../facts/answer-sections.ts'
import type { Question } from '../facts/question.ts'
import { inspectScript, type LeaseAsk } from '../facts/question.ts'
import type { HostState } from '../facts/state.ts'
import { printableText as printable } from '../printable.ts'
import { runScript } from '../transport/script/run-script.ts'
import type { Lane } from './lane.ts'
import { outlive } from './outlive.ts'

// An answer holds content that was asked for, names and unit properties: a few hundred kilobytes at the most.
const maxBytes = 32 * 1024 * 1024

/** Reads all facts in one exec, and in one more for each time the connection is lost in it. */
export const inspectHost = (
  lane: Lane,
  verb: 'inspect' | 'verify',
  question: Question,
  lease?: LeaseAsk,
): Promise<HostState> => outlive(lane, () => look(lane, verb, question, lease))

const look = async (
  lane: Lane,
  verb: 'inspect' | 'verify',
  question: Question,
  lease: LeaseAsk | undefined,
): Promise<HostState> => {
  const { script, args } = inspectScript(question, lease)
  const seen: Uint8Array[] = []
  try {
    const answer = await lane.exec(verb, () =>
      runScript(lane.connection, {
        run: lane.run.id,
        verb,
        script,
        args,
        become: lane.become,
        deadlineMs: lane.run.deadlines.inspectMs,
        maxBytes,
        onStdout: (chunk) => seen.push(chunk),
        signal: lane.run.hardStop,
      }),
    )
    const output = answer.stdout.toString('latin1')
    if (answer.code !== 0)
      throw new AnswerError(
        lastSection(output),
        printable(answer.stderr.toString('utf8')).trim() || `exit code ${answer.code}`,
      )
    return readAnswer(question, output)
  } catch (thrown) {
    throw asInspectError(thrown, Buffer.concat(seen).toString('latin1'))
  }
}

const asInspectError = (thrown: unknown, output: string): unknown => {
  if (thrown instanceof AnswerError) {
    return new DroverError({
      code: 'inspect-failed',
      message: `The facts of the host could not be read: ${thrown.message}.`,
      remedy: 'Run again with -vv and look at the section that is named. If the host is not at fault, report it.',
      cause: thrown,
    })
  }
  if (thrown instanceof DroverError && thrown.code === 'command-timeout') {
    return new DroverError({
      code: 'inspect-stalled',
      message: `Reading the facts came to a stand in section '${lastSection(output)}'.`,
      remedy:
        'Something there does not answer: a hung mount, a disk, systemd or the journal. Look at the host by hand.',
      cause: thrown,
    })
  }
  return thrown
}
