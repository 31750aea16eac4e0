import { leaseTtlS } from '../facts/holder.ts'
import { shellSource } from '../facts/shell-source.ts'
import { printableText as printable } from '../printable.ts'
import { runScript, type ScriptAnswer } from '../transport/script/run-script.ts'
import type { Lane } from './lane.ts'

const maxBytes = 1024 * 1024

/** How long an apply may take to its next change before it is ended, and how long if a package manager is at work. */
const graceS = { usual: 10, package: 120 }

const parts = {
  main: ['unit', 'start', 'launch', 'main'],
  cancel: ['unit', 'cancel'],
  release: ['unit', 'release'],
} as const

/** The scripts beside an apply, each with the functions it needs. */
export const applySource = (name: keyof typeof parts): string =>
  ['../facts/inspect/lease', ...parts[name].map((part) => `../changes/apply/${part}`)]
    .map((path) => shellSource(new URL(`${path}.sh`, import.meta.url)))
    .join('')

/** Second Ctrl-C: ends the apply on the host between two changes or by force. */
export const cancelApply = async (lane: Lane, token: string): Promise<void> => {
  const { id, operator } = lane.run
  const graces = [graceS.usual, graceS.package].map(String)
  // Two rounds of ten seconds for what does not want to end, and a slow host.
  await run(lane, 'cancel', [id, operator, token, ...graces], (graceS.package + 50) * 1000)
}

/**
 * Lets the host go where the lane ends without a last check: after an apply that failed, between two segments, or when
 * that check fails. Says line by line what goes on there without the apply.
 */
export const releaseHost = async (lane: Lane): Promise<string> => {
  const answer = await run(lane, 'release', [lane.run.id, lane.run.operator, String(leaseTtlS)], 30_000)
  return printable(answer.stdout.toString('utf8')).trim()
}

const run = async (
  lane: Lane,
  verb: 'cancel' | 'release',
  args: readonly string[],
  deadlineMs: number,
): Promise<ScriptAnswer> => {
  const { become } = lane
  const script = applySource(verb)
  const answer = await runScript(lane.connection, {
    run: lane.run.id,
    verb,
    script,
    args,
    become,
    deadlineMs,
    maxBytes,
  })
  if (answer.code !== 0) throw new Error(printable(answer.stderr.toString('utf8')))
  return answer
}
