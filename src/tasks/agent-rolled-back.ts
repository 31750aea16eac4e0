import { z } from 'zod'
import type { ErrorDetails } from '../errors.ts'
import { warning } from './agent/finding.ts'
import { layoutEntry } from './agent/paths.ts'
import { versionFacts, versionOf } from './agent/version.ts'
import { armedBefore } from './switch/armed-before.ts'
import { switchFacts } from './switch/facts.ts'
import { downgradeRefusal, knowledgeOf } from './switch/host-root-knowledge.ts'
import { enoughTime, limitsShape } from './switch/limits.ts'
import { notProved, runsBinary } from './switch/proof.ts'
import { readReady } from './switch/ready.ts'
import { runs } from './switch/staging.ts'
import { switchAgent } from './switch/switch-agent.ts'
import { disturbance } from './switch/undisturbed.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z
  .strictObject({
    ...limitsShape,
    host_root_since: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'First version that knows the host root, as hostRootSince of a release; needed where the host has that root',
      ),
    allow_host_root_downgrade: z
      .boolean()
      .default(false)
      .describe('Also to a binary that does not know the root this host has, or of which nobody can say'),
  })
  .superRefine(enoughTime)

type Params = z.output<typeof params>

/** What a person decides on, as against the rollback that the host fires: current goes where last-good leads. */
export const agentRolledBack: Task<Params> = {
  name: 'agent-rolled-back',
  summary: 'The agent is the last-good one again, seen to run and stay up; otherwise the host stays with what it has.',
  params,
  example: `name: back
description: Let the agent that ran before run again
steps:
  - task: agent-rolled-back
    with: { host_root_since: v0.3.0 }
`,
  facts: () => [...switchFacts(), ...versionFacts('last-good')],
  plan: (view, wanted, host): Planned => {
    const armed = armedBefore(view, host, (candidate) => {
      const layout = runsBinary(view, candidate)?.layout
      return layout !== undefined && layout.lastGood === layout.current
    })
    if (armed !== null) return armed
    const ready = readReady(view)
    if ('code' in ready) return blocked(ready)
    const { root, lastGood, current, isPlain } = ready.layout
    if (lastGood === null) return blocked(nothingToGoBackTo(isPlain, layoutEntry(root, 'last-good')))
    if (lastGood === current) return satisfied([alreadyThere(layoutEntry(root, current)), ...notProved(ready)])
    const place = layoutEntry(root, lastGood)
    const sha256 = view.sha256(place) ?? ''
    const version = versionOf(view, root, 'last-good')
    const node = view.target(place)
    const changes = switchAgent(
      view,
      ready,
      {
        slot: lastGood,
        sha256,
        size: node.type === 'file' ? node.size : 0,
        what: `rollback to ${version ?? lastGood}`,
        staging: [runs(place)],
      },
      wanted,
    )
    const known = { version, hostRootSince: wanted.host_root_since ?? undefined, sha256 }
    const refusal =
      disturbance(view, ready) ??
      downgradeRefusal(ready.hostRoot, knowledgeOf(view, known), known, wanted.allow_host_root_downgrade)
    if (refusal !== null) return blocked(refusal)
    return 'code' in changes ? blocked(changes) : planned(changes, notProved(ready))
  },
}

const nothingToGoBackTo = (isPlain: boolean, path: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: isPlain
    ? 'This agent is from before the two slots, so there is none from before it on the host.'
    : `${path} leads to no binary, so nobody can say what ran before.`,
  remedy: 'Upgrade to the release that is wanted: an older one will do.',
})

const alreadyThere = (path: string): Finding =>
  warning({
    check: 'already-last-good',
    target: path,
    message: 'current and last-good lead to the same binary: there is nothing to go back to',
    remedy: 'If another release is wanted, upgrade to it: an older one will do.',
  })
