import { setTimeout as sleep } from 'node:timers/promises'
import type { Question } from '../facts/question.ts'
import type { HostState, OsFacts } from '../facts/state.ts'
import { rebooted } from './apply-errors.ts'
import type { Failure } from './conclude.ts'
import { inspectHost } from './inspect-host.ts'
import type { Lane } from './lane.ts'
import { planHost } from './plan.ts'
import type { SegmentChange } from './reboot.ts'

interface Cut {
  readonly question: Question
  readonly changes: readonly SegmentChange[]
  /** The host before the changes. */
  readonly before: OsFacts
  readonly failure: Failure
}

/** A host that goes down ends the apply first and may still be seen on its old boot: what it comes to shows on the next. */
const settled = async (lane: Lane, question: Question): Promise<HostState> => {
  const until = performance.now() + mostMs
  for (;;) {
    const state = await inspectHost(lane, 'verify', question)
    if (!isGoingDown(state.os) || performance.now() > until) return state
    await sleep(lane.run.deadlines.backoffMs, undefined, { signal: lane.run.hardStop })
  }
}

/** As long as a unit may take to stop. */
const mostMs = 90_000

/** In the middle of it systemd answers nobody any more. */
const isGoingDown = ({ isSystemd, systemState }: OsFacts): boolean =>
  isSystemd && ['stopping', ''].includes(systemState)

/** After an apply that ended without a word of its own: what the host itself shows of it, and whether a reboot ended it. */
export const lookAgain = async (lane: Lane, { question, changes, before, failure }: Cut): Promise<Failure> => {
  if (failure.error.code !== 'apply-incomplete' || lane.run.hardStop.aborted) return failure
  try {
    const state = await settled(lane, question)
    const { steps } = planHost(lane.play, lane.run.tasks, state)
    const isOtherBoot = state.os.bootId !== before.bootId || state.os.pid1Start !== before.pid1Start
    const { message } = isOtherBoot ? rebooted() : failure.error
    const wanted = new Set(steps.flatMap((step) => step.changes.map(({ summary }) => `${step.name}\n${summary}`)))
    const open = changes.filter(({ step, summary }) => wanted.has(`${step}\n${summary}`))
    const found = `A look afterwards finds ${changes.length - open.length} of its ${changes.length} changes made`
    const left = open.length === 0 ? '.' : `; still to do: ${open.map(({ summary }) => summary).join('; ')}.`
    return { ...failure, error: { ...failure.error, message: `${message} ${found}${left}` } }
  } catch {
    // What is known stands.
    return failure
  }
}
