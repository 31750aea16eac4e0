import type { ErrorDetails } from '../../errors.ts'
import { type Fact, mergeFacts } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { activationLockFacts } from '../agent/activation-lock.ts'
import { type Deployment, deploymentFacts, readDeployment } from '../agent/deployment.ts'
import type { HostRootState } from '../agent/host-root.ts'
import { type Layout, layoutFacts, readLayout, settledRoot } from '../agent/layout.ts'
import { agentUnit, type Machine, recoveryUnit } from '../agent/names.ts'
import { agentBinary, agentUnitFile, hostRoots, layoutEntry, ROOT } from '../agent/paths.ts'
import type { AgentService } from '../agent/service.ts'
import { isRoot } from '../agent/visible.ts'
import { agentMissing, stateUnreadable, systemdSilent } from '../worker/refusals.ts'
import { unsettledRoot } from './unsettled-root.ts'

/** A host whose agent can be looked at as a whole: installed, with a settled root, and running what its unit names. */
export interface Ready {
  readonly deployment: Deployment
  readonly service: AgentService
  readonly hostRoot: HostRootState
  readonly layout: Layout
  readonly activeMachine: Machine
  /** The path of ExecStart. */
  readonly startsPath: string
}

export const readyFacts = (): Fact[] =>
  mergeFacts([
    ...deploymentFacts(),
    ...layoutFacts(),
    ...activationLockFacts(),
    { kind: 'unit', name: agentUnit, starts: true },
    { kind: 'unit', name: recoveryUnit },
    { kind: 'path', path: agentUnitFile, content: 65_536, sha256: true },
  ])

export const readReady = (view: HostView): Ready | ErrorDetails => {
  if (!view.systemd.ok) return systemdSilent(view.systemd.error)
  const deployment = readDeployment(view)
  // Without root nothing but guesses could come of it.
  if (!isRoot(view)) return stateUnreadable(deployment)
  const { service, hostRoot } = deployment
  if (!deployment.installed || service === null) return agentMissing
  const root = settledRoot(hostRoot)
  if (root === null) return unsettledRoot(view, hostRoot)
  const layout = readLayout(view, hostRoot, root)
  if ('code' in layout) return layout
  const { daemonState } = deployment
  if (daemonState === null || !daemonState.ok) return stateUnreadable(deployment)
  const startsPath = execPath(view.unit(agentUnit).get('ExecStart'))
  const strange = strangeStart(view, startsPath)
  if (strange !== null) return strange
  return { deployment, service, hostRoot, layout, activeMachine: daemonState.activeMachine, startsPath }
}

/** The program of `{ path=/x ; argv[]=/x agent ; ... }`. */
export const execPath = (execStart: string): string => /\bpath=(\S+) ;/.exec(execStart)?.[1] ?? ''

/** What a release of the agent lets its unit run: `current`, or before the slots the plain binary. */
const known = hostRoots.flatMap((root) => [agentBinary(root), layoutEntry(root, 'current')])

/** What the host would come back to must be what it runs now, or a rollback could never be told to have come out well. */
export const strangeStart = (view: HostView, path: string): ErrorDetails | null => {
  if (!known.includes(path)) {
    return {
      code: 'layout-unknown',
      message: `${agentUnit} runs ${path === '' ? 'nothing that systemd shows' : path}, which no release of the agent lets it run.`,
      remedy: `Look at systemctl cat ${agentUnit}: a drop-in or an edited unit runs something else. drover switches only what the agent itself lays out.`,
    }
  }
  const { exe } = view.unit(agentUnit)
  const starts = view.realPath(path)
  if (exe === '' || exe === starts) return null
  return {
    code: 'layout-unknown',
    message: `The agent runs ${exe}, and a restart would start ${starts}: somebody switched it and did not restart it.`,
    remedy: `Decide which of the two is wanted. If it is the second: systemctl restart ${agentUnit}, then run again.`,
  }
}

/** Whether the unit runs whatever `current` leads to; a linked host may name it through either root. */
export const startsCurrent = ({ startsPath, layout, hostRoot }: Ready): boolean =>
  startsPath === layoutEntry(layout.root, 'current') ||
  (hostRoot === 'LINKED' && startsPath === layoutEntry(ROOT, 'current'))
