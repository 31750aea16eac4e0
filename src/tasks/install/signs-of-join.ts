import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Deployment } from '../agent/deployment.ts'
import { agentUnit, type Machine, machines } from '../agent/names.ts'
import { daemonStateFile } from '../agent/paths.ts'
import { stateUnreadable } from '../worker/refusals.ts'

const machineDirectory = (machine: Machine): string => `/var/lib/machines/${machine}`

export const signsOfJoinFacts = (): Fact[] =>
  machines.map((machine) => ({ kind: 'path', path: machineDirectory(machine), entries: true }))

/**
 * O-15: a host whose state is gone may be a live node, and another join would build its worker anew. So it is joined
 * only where nothing of a join is to be seen; null there.
 */
export const joinedOnce = (view: HostView, deployment: Deployment): ErrorDetails | null => {
  const signs = [
    ...(isUp(deployment.service?.activeState) ? [`${agentUnit} is active`] : []),
    ...deployment.workers.filter(({ activeState }) => isUp(activeState)).map(({ unit }) => `${unit} is active`),
    ...machines.map(machineDirectory).flatMap((path) => (isThere(view, path) ? [`${path} is not empty`] : [])),
  ]
  if (signs.length === 0) return null
  return {
    ...stateUnreadable(deployment),
    message: `${daemonStateFile} is missing, and the host looks as if it had joined: ${signs.join(', ')}. It was not joined again: that could cost it its worker.`,
    remedy: `If it is a node of the cluster: bring ${daemonStateFile} and its .sha256 back. If it is not, as after a join that was cut, or an agent that was started without one: aks-flex-node reset on the host, then run again.`,
  }
}

const isUp = (activeState: string | null | undefined): boolean =>
  typeof activeState === 'string' && !['inactive', 'failed'].includes(activeState)

const isThere = (view: HostView, path: string): boolean => {
  const { type } = view.target(path)
  return type === 'directory' ? view.entries(path).length > 0 : view.node(path).type !== 'absent'
}
