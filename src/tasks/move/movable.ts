import type { ErrorDetails } from '../../errors.ts'
import { type Fact, mergeFacts } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { readDeployment } from '../agent/deployment.ts'
import { type HostRootState, hostRootRow, hostRootState } from '../agent/host-root.ts'
import { hostRootSigns } from '../agent/host-root-signs.ts'
import { readLayout, slotBehind } from '../agent/layout.ts'
import { agentUnit } from '../agent/names.ts'
import { type HostRoot, LEGACY, movingMark, ROOT, stagingRoot } from '../agent/paths.ts'
import { isInstalled } from '../agent/service.ts'
import { isRoot } from '../agent/visible.ts'
import { execPath, type Ready, readyFacts, strangeStart } from '../switch/ready.ts'
import { unsettledRoot } from '../switch/unsettled-root.ts'
import { agentMissing, stateUnreadable, systemdSilent } from '../worker/refusals.ts'

/** A host whose agent can move, or is on its way: `layout` is that of the root whose files lead. */
export type Movable = Ready

export const movableFacts = (): Fact[] =>
  mergeFacts([...readyFacts(), ...[ROOT, stagingRoot, movingMark].map((path): Fact => ({ kind: 'path', path }))])

/** What no task of a move can do anything about. */
export const rootRefusal = (view: HostView, state: HostRootState): ErrorDetails | null => {
  const { migrate, remedy } = hostRootRow(state)
  if (migrate === 'nothing')
    return isInstalled(view) ? unsettledRoot(view, state) : { ...agentMissing, remedy: remedy ?? agentMissing.remedy }
  if (migrate !== 'refuse') return null
  if (state !== 'LEGACY-PLAIN' && state !== 'OPERATOR-LINK') return unsettledRoot(view, state)
  const code = state === 'OPERATOR-LINK' ? 'operator-link' : 'move-not-ready'
  return { code, message: `${state}: ${hostRootRow(state).means}`, remedy: remedy ?? '' }
}

/** The agent lives under the new root, however it came there. */
export const isDone = (view: HostView): boolean =>
  view.systemd.ok && hostRootRow(hostRootState(hostRootSigns(view))).migrate === 'done'

export const readMovable = (view: HostView): Movable | ErrorDetails => {
  if (!view.systemd.ok) return systemdSilent(view.systemd.error)
  const deployment = readDeployment(view)
  // Without root nothing but guesses could come of it.
  if (!isRoot(view)) return stateUnreadable(deployment)
  const { service, hostRoot } = deployment
  const refusal = rootRefusal(view, hostRoot)
  if (refusal !== null) return refusal
  if (!deployment.installed || service === null) return agentMissing
  if (service.variant === 'container') return containerVariant
  const isUnderWay = hostRootRow(hostRoot).when.root === 'directory'
  const layout = readLayout(view, hostRoot, isUnderWay ? ROOT : LEGACY)
  if ('code' in layout) return layout
  const { daemonState } = deployment
  if (daemonState === null || !daemonState.ok) return stateUnreadable(deployment)
  const startsPath = execPath(view.unit(agentUnit).get('ExecStart'))
  // Between its two passes an agent runs one root's files while its unit names the other's.
  const strange = isUnderWay ? null : strangeStart(view, startsPath)
  if (strange !== null) return strange
  return { deployment, service, hostRoot, layout, activeMachine: daemonState.activeMachine, startsPath }
}

/** `current` and `last-good` each lead to a binary there. */
export const isWhole = (view: HostView, root: HostRoot): boolean =>
  slotBehind(view, root, 'current') !== null && slotBehind(view, root, 'last-good') !== null

const containerVariant: ErrorDetails = {
  code: 'layout-unknown',
  message: `${agentUnit} is the container variant, whose unit drover never rewrites.`,
  remedy: 'Take the host out with --limit: its agent moves by itself, when it starts after an upgrade.',
}
