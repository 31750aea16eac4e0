// What stories tell of an apply, and what it leaves on its host.
import type { LabHost } from '../lab/host.ts'

import { until } from '../lab/wait.ts'
import type { DroverEnd, DroverProcess } from './drover.ts'
import { file, gated } from './playbook.ts'

export const applyUnit = 'drover-apply.service'

/** What an apply leaves while it is not over; the locks stay. */
export const left = (host: LabHost): Promise<string> =>
  host.must('ls -A /run/drover 2>/dev/null | grep -vxE "mutex|starting|until|owed" || :')

/** `started STEP`, `done STEP` in order, as they were told of. */
export const progressOf = (run: DroverEnd, host: string): string[] =>
  run.events.flatMap((event) =>
    (event.type === 'change-started' || event.type === 'change-done') && event.host === host
      ? [`${event.type.slice('change-'.length)} ${event.step}`]
      : [],
  )

export const untilStarted = async (process: DroverProcess, host: LabHost, step: string): Promise<void> => {
  await process.until('change-started', (event) => event.host === host.name && event.step === step)
}

export const untilReconnected = async (process: DroverProcess, host: LabHost, times = 1): Promise<void> => {
  await until(`reconnect ${times} of ${host.name}`, 90_000, async () => {
    const all = process.events().filter((event) => event.type === 'host-reconnected' && event.host === host.name)
    return all.length >= times ? true : undefined
  })
}

/** A file, a command that waits to be let through, a file. */
export const threeSteps = (name: string): object[] => [
  file('before', `/etc/${name}-before`, 'whole\n'),
  gated(name),
  file('after', `/etc/${name}-after`, 'whole\n'),
]

export const whole = ['started before', 'done before', 'started slow', 'done slow', 'started after', 'done after']
