import pLimit from 'p-limit'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Outcome } from './events.ts'
import { runLane } from './lane.ts'
import { emit, type Run } from './run.ts'

/** All hosts, at most `forks` at a time. Every host has an outcome in the end, in the order of the plays. */
export const runFleet = async (run: Run, plays: readonly HostPlay[]): Promise<Outcome[]> => {
  const limit = pLimit(run.forks)
  const outcomes = await Promise.all(
    plays.map((play) => limit(() => (run.softStop.aborted ? notStarted(run, play) : runLane(run, play)))),
  )
  for (const message of run.machines.notices()) emit(run, { type: 'notice', host: null, message })
  return outcomes
}

const notStarted = (run: Run, play: HostPlay): Outcome => {
  emit(run, { type: 'host-ended', host: play.host.name, outcome: 'cancelled', changes: 0, ms: 0 })
  return 'cancelled'
}
