import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { type Deployment, deploymentFacts, readDeployment } from './agent/deployment.ts'
import { warning } from './agent/finding.ts'
import { deploymentFindings, findingsFacts } from './agent/findings.ts'
import { agentUnit, type Machine, machines } from './agent/names.ts'
import { type Finding, satisfied, type Task } from './task.ts'
import { kubeletArgv } from './worker/kubelet.ts'

const params = z.strictObject({})

/** What a person should know of a deployed host beside what a playbook is there to change (W8, domain.md 5.3). */
export const healthReported: Task<z.output<typeof params>> = {
  name: 'health-reported',
  summary:
    'Warnings about a deployed host are reported: agent, kubelet in the worker, secrets left behind, upgrades; nothing is changed.',
  params,
  isCheck: true,
  example: `name: health
description: What should somebody look at?
steps:
  - task: health-reported
`,
  facts: () => mergeFacts([...deploymentFacts(), ...findingsFacts(), ...machines.map(kubeletFact)]),
  plan: (view, _given, host) => {
    const deployment = readDeployment(view)
    if (!view.systemd.ok) return satisfied([systemdDown(view.systemd.error), ...deploymentFindings(view, host)])
    if (!deployment.installed) return satisfied()
    return satisfied([...agentDown(deployment), ...kubeletDown(view, deployment), ...deploymentFindings(view, host)])
  },
}

const kubeletFact = (machine: Machine): Fact => ({ kind: 'command', argv: kubeletArgv(machine), timeoutS: 10 })

const systemdDown = (error: string): Finding =>
  warning({
    check: 'systemd-silent',
    target: 'systemd',
    message: `systemd does not answer, so nothing is known of agent and worker: ${error}`,
    remedy: 'Look at the host by hand.',
  })

const agentDown = ({ service }: Deployment): Finding[] =>
  service === null || ['active', 'reloading', 'refreshing'].includes(service.activeState)
    ? []
    : [
        warning({
          check: 'agent-down',
          target: agentUnit,
          message: `the agent is ${service.activeState} (${service.result})`,
          remedy: `Look at journalctl -u ${agentUnit}; drover starts no agent that is down.`,
        }),
      ]

/** A worker that runs is a machine that booted; only its kubelet makes it a node. */
const kubeletDown = (view: HostView, deployment: Deployment): Finding[] => {
  const { daemonState } = deployment
  if (daemonState?.ok !== true) return []
  const worker = deployment.worker(daemonState.activeMachine)
  const isMachine =
    worker.activeState === 'active' && view.unit(worker.unit).get('ExecStart').includes('systemd-nspawn')
  if (!isMachine) return []
  const { code, stdout } = view.command(kubeletArgv(worker.machine))
  if (code === 0) return []
  return [
    warning({
      check: 'kubelet-down',
      target: worker.machine,
      message: `the worker runs, but kubelet in it is not active (${stdout.trim() || `systemctl gave ${code}`})`,
      remedy: `A worker just started may need a minute. Then: systemctl --machine=${worker.machine} status kubelet.service.`,
    }),
  ]
}
