import type { HostView } from '../../facts/view.ts'
import type { Deployment } from '../agent/deployment.ts'
import { imageMount, machinesTarget, workerUnit } from '../agent/names.ts'
import { targetMembers } from '../agent/workers.ts'
import type { Finding } from '../task.ts'

/** Units besides the active worker's that a start of machines.target would start now (W2). */
export const wouldStart = (view: HostView, deployment: Deployment): string[] =>
  strangers(view, deployment).filter((unit) => !view.knowsUnit(unit) || isDown(view, unit))

/** Those that run now, so that a start of the target leaves them alone. */
export const alreadyRunning = (view: HostView, deployment: Deployment): string[] =>
  strangers(view, deployment).filter((unit) => view.knowsUnit(unit) && view.unit(unit).isActive)

const isDown = (view: HostView, unit: string): boolean => {
  const { isActive, isLoaded } = view.unit(unit)
  return !isActive && isLoaded
}

const strangers = (view: HostView, { daemonState }: Deployment): string[] =>
  targetMembers(view).filter(
    (unit) => unit !== imageMount && (daemonState?.ok !== true || unit !== workerUnit(daemonState.activeMachine)),
  )

/** What the next boot will start along with the worker, once the target is wanted. */
export const startedAtBoot = (view: HostView, deployment: Deployment): Finding[] => {
  const others = strangers(view, deployment)
  if (others.length === 0) return []
  return [
    {
      check: 'others-start-at-boot',
      target: machinesTarget,
      severity: 'warning',
      message: `the next boot will also start ${others.join(', ')}: enabled under ${machinesTarget}, and not the active worker`,
      ignored: false,
      remedy: 'If that is not wanted: machinectl disable NAME for each of them.',
    },
  ]
}
