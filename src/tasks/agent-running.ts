import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { deploymentFacts, readDeployment } from './agent/deployment.ts'
import { warning } from './agent/finding.ts'
import { layoutFacts, readLayout } from './agent/layout.ts'
import { agentUnit } from './agent/names.ts'
import { layoutEntry, unitDirectory, wantsDirectory } from './agent/paths.ts'
import { hostFacts, hostRefusal } from './install/host-fit.ts'
import { layoutRoot } from './install/root.ts'
import { agentStart, startedAlong, startLimitsShape } from './install/start.ts'
import { unsettledRoot } from './switch/unsettled-root.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'
import { agentMissing } from './worker/refusals.ts'

const params = z.strictObject(startLimitsShape)

type Params = z.infer<typeof params>

/** Rule U5: one that had joined and is inactive was stopped by somebody, and perhaps disabled along with it: it stays so. */
export const agentRunning: Task<Params> = {
  name: 'agent-running',
  summary:
    'The installed agent starts at boot, runs what `current` leads to, and after a start stays up; one that had joined and was stopped stays stopped.',
  params,
  example: `name: agent-up
description: Start agents that never ran or that failed
steps:
  - task: agent-running
    with: { stable_s: 45 }
`,
  facts: (): Fact[] =>
    mergeFacts([
      ...deploymentFacts(),
      ...hostFacts(),
      ...layoutFacts(),
      ...activationLockFacts(),
      { kind: 'unit', name: agentUnit, starts: true },
      { kind: 'path', path: bootLink },
    ]),
  plan: (view, limits, host): Planned => {
    const refusal = hostRefusal(view, host)
    if (refusal !== null) return blocked(refusal)
    const deployment = readDeployment(view)
    const { service, hostRoot } = deployment
    if (!deployment.installed || service === null) return blocked(agentMissing)
    const root = layoutRoot(hostRoot)
    if (root === null) return blocked(unsettledRoot(view, hostRoot))
    const layout = readLayout(view, hostRoot, root)
    if ('code' in layout) return blocked(layout)
    const isEnabled = view.node(bootLink).type !== 'absent'
    if (service.activeState === 'inactive' && deployment.daemonState?.ok === true)
      return isEnabled ? satisfied([stopped]) : blocked(neverEnabled)
    const enable = isEnabled ? [] : [{ kind: 'systemctl', verb: 'enable', unit: agentUnit } as const]
    if (['active', 'reloading', 'refreshing'].includes(service.activeState)) {
      const strange = layout.isPlain ? null : runsAnother(view, view.realPath(layoutEntry(root, 'current')))
      return strange === null ? planned(enable) : blocked(strange)
    }
    const unready = lockRefusal(view) ?? startedAlong(view, deployment, limits.allow_start)
    if (unready !== null) return blocked(unready)
    return planned([...enable, ...agentStart(view, deployment, root, limits)])
  },
}

/** The link on disk; systemd's own word is cached (mechanisms.md 5). */
const bootLink = `${wantsDirectory(unitDirectory, 'multi-user.target')}/${agentUnit}`

const runsAnother = (view: HostView, current: string) => {
  const { exe } = view.unit(agentUnit)
  return exe === current
    ? null
    : ({
        code: 'agent-unhealthy',
        message: `The agent runs ${exe === '' ? 'nothing that can be seen' : exe}, and a restart would start ${current}.`,
        remedy: `Somebody switched it and did not restart it. If ${current} is wanted: systemctl restart ${agentUnit}.`,
      } as const)
}

const stopped = warning({
  check: 'agent-stopped',
  target: agentUnit,
  message: 'the agent had joined and is inactive: somebody stopped it, so it stays stopped',
  remedy: `To have it back: systemctl start ${agentUnit}.`,
})

/** The agent's own `start` saves its state before it enables its unit, so a cut there leaves what a person leaves, too. */
const neverEnabled = {
  code: 'precondition-unmet',
  message: `The agent had joined, and ${agentUnit} neither runs nor is enabled: somebody stopped it for good, or its join was cut before it was enabled. Nothing that somebody may have stopped is started.`,
  remedy: `If it is to run: systemctl enable --now ${agentUnit} on the host, then run again. Otherwise take the host out with --limit.`,
} as const
