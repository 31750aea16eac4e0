import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { Fact } from '../facts/fact.ts'
import { deploymentFacts, readDeployment } from './agent/deployment.ts'
import { agentUnit, machinesTarget } from './agent/names.ts'
import type { Target } from './agent/target.ts'
import { blocked, type Planned, planned, type Task } from './task.ts'
import { healingRestart } from './worker/healing-restart.ts'
import { startedAtBoot } from './worker/others.ts'
import { agentMissing, systemdSilent } from './worker/refusals.ts'
import { seconds } from './worker/waits.ts'
import { wiring, wiringFacts } from './worker/wiring.ts'

const params = z.strictObject({
  restart_agent: z
    .enum(['heal', 'never'])
    .default('heal')
    .describe(
      'heal: restart the agent where machines.target is down and a wanted worker with it; never: wire for the next boot only',
    ),
  enable_target: z
    .boolean()
    .default(false)
    .describe('Also enable machines.target itself; not needed, since the agent wants it'),
  allow_start: z
    .array(z.string())
    .default([])
    .describe('Units of machines.target.wants, or machine names, that may start along when the target is started'),
  stable_s: seconds(15).describe('Seconds the agent and the worker must stay up after a restart'),
  within_s: seconds(120).describe('Seconds the host waits for that'),
})

export type WiringParams = z.infer<typeof params>

/** Rules W1 to W5: the agent's unit pulls in machines.target at every boot, whatever the presets of the OS say. */
export const machinesTargetWired: Task<WiringParams> = {
  name: 'machines-target-wired',
  summary:
    "The agent's unit wants machines.target, so that enabled workers start at boot although RHEL presets leave the target disabled.",
  params,
  example: `name: wire
description: Let workers start at boot
steps:
  - task: machines-target-wired
    with: { restart_agent: never }
`,
  facts: (): Fact[] => [...deploymentFacts(), { kind: 'unit', name: agentUnit, starts: true }, ...wiringFacts()],
  plan: (view, wanted): Planned => {
    if (!view.systemd.ok) return blocked(systemdSilent(view.systemd.error))
    const deployment = readDeployment(view)
    if (!deployment.installed) return blocked(agentMissing)
    const { target } = deployment
    if (target === null || target.missing) return blocked(targetMissing)
    if (target.masked) return blocked(targetMasked)
    const wires = wiring(view)
    if ('code' in wires) return blocked(wires)
    const heals = wanted.restart_agent === 'never' ? [] : healingRestart(view, deployment, wanted, wires.length > 0)
    if ('code' in heals) return blocked(heals)
    return planned([...wires, ...enabling(target, wanted), ...heals], startedAtBoot(view, deployment))
  },
}

const enabling = (target: Target, { enable_target }: WiringParams): Change[] =>
  enable_target && !target.enabled ? [{ kind: 'systemctl', verb: 'enable', unit: machinesTarget }] : []

const targetMissing = {
  code: 'precondition-unmet',
  message: `systemd does not know ${machinesTarget}.`,
  remedy: 'Install the package systemd-container; on an image-managed host it must be in the image.',
} as const

const targetMasked = {
  code: 'target-masked',
  message: `${machinesTarget} is masked, so no worker can start with it, and wanting it would be in vain. Nothing was changed.`,
  remedy: `If nobody masked it on purpose: systemctl unmask ${machinesTarget} on the host, then run again. drover never unmasks.`,
} as const
