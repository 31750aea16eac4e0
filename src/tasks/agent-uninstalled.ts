import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { fine, warning } from './agent/finding.ts'
import { agentUnit } from './agent/names.ts'
import { movingMark, ROOT, stagingRoot } from './agent/paths.ts'
import { isInstalled, serviceFacts } from './agent/service.ts'
import { asSeen, underLock } from './move/lock.ts'
import { resetFacts } from './reset/facts.ts'
import { linksLeft } from './reset/links-left.ts'
import { hostRefusal, isDeployed } from './reset/possible.ts'
import { isAgentsLink, uninstall, uninstalledTrees, uninstallFacts } from './reset/uninstall.ts'
import { blocked, type Finding, type Planned, planned, type Task } from './task.ts'

const params = z.strictObject({
  yes_remove_everything: z
    .boolean()
    .default(false)
    .refine((said) => said, {
      message:
        'It removes the agent for good, and nobody has said that this is meant.\nGive --yes-remove-everything, or run the playbook reset, which keeps what an install needs.',
    })
    .describe('That it is meant: nothing is removed unless this is true (--yes-remove-everything)'),
})

const heldS = 300

/** What a reset keeps goes as well (domain.md 8.2, 8.3). */
export const agentUninstalled: Task<z.output<typeof params>> = {
  name: 'agent-uninstalled',
  summary:
    "The agent's binaries, state and what a move has left are gone from both roots, and so is a link between them; a link of an operator, other files and /opt/unbounded stay. The host must have been reset.",
  params,
  example: `name: remove-binaries
description: Remove the binaries of an agent that was reset
steps:
  - task: agent-uninstalled
    with: { yes_remove_everything: true }
`,
  facts: (): Fact[] => mergeFacts([...resetFacts(), ...serviceFacts(), ...activationLockFacts(), ...uninstallFacts()]),
  plan: (view): Planned => {
    const refusal = hostRefusal(view)
    if (refusal !== null) return blocked(refusal)
    if (isInstalled(view) || isDeployed(view)) return blocked(notReset)
    const wanted = uninstall(view)
    if ('code' in wanted) return blocked(wanted)
    const { changes, foreign } = wanted
    const held = changes.length === 0 ? null : lockRefusal(view)
    if (held !== null) return blocked(held)
    return planned(underLock(heldS, changes, asSeen(view, [ROOT, movingMark, stagingRoot])), [
      ...foreignKept(foreign),
      ...rootKept(view),
      ...linksLeft(view, uninstalledTrees),
    ])
  },
}

const notReset = {
  code: 'precondition-unmet',
  message: `An agent, or something of it, is on the host still (${agentUnit}, its configuration or a worker). Its binaries were left alone.`,
  remedy: 'Reset the host first, as the playbook uninstall does.',
} as const

const foreignKept = (foreign: readonly string[]): Finding[] =>
  foreign.length === 0
    ? []
    : [
        warning({
          check: 'foreign-files-kept',
          target: 'host',
          message: `not the agent's, and kept with the directories they lie in: ${foreign.join(', ')}`,
          remedy: 'Look at who put them there. The agent needs none of them any more.',
        }),
      ]

const rootKept = (view: HostView): Finding[] => {
  const node = view.node(ROOT)
  if (node.type !== 'symlink' || isAgentsLink(view)) return []
  return [
    fine({ check: 'operator-link-kept', target: ROOT, message: `the link of an operator to ${node.target} was kept` }),
  ]
}
