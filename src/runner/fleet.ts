import pLimit from 'p-limit'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Outcome } from './events.ts'
import { runLane } from './lane.ts'
import { emit, type Run } from './run.ts'

/** All hosts, at most `forks` at a time. Every host has an outcome in the end, in the order of the plays. */
export const runFleet = async (run: Run, plays: readonly HostPlay[]): Promise<Outcome[]> => {
  const limit = pLimit(run.forks)
  return Promise.all(
    plays.map((play) => limit(() => (run.softStop.aborted ? notStarted(run, play) : runLane(run, play)))),
  )
}

const notStarted = (run: Run, play: HostPlay): Outcome => {
  emit(run, { type: 'host-ended', host: play.host.name, outcome: 'cancelled', changes: 0, ms: 0 })
  return 'cancelled'
}
