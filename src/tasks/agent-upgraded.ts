import { z } from 'zod'
import type { ErrorDetails } from '../errors.ts'
import type { HostView } from '../facts/view.ts'
import { architectureOf, type Binary, type Release } from '../release/release.ts'
import { releaseParam } from '../release/schema.ts'
import { otherSlot } from './agent/layout.ts'
import { armedBefore } from './switch/armed-before.ts'
import { switchFacts } from './switch/facts.ts'
import { downgradeRefusal, knowledgeOf } from './switch/host-root-knowledge.ts'
import { enoughTime, limitsShape } from './switch/limits.ts'
import { notProved, runsBinary } from './switch/proof.ts'
import { type Ready, readReady } from './switch/ready.ts'
import { seeded, stagedUpgrade } from './switch/staging.ts'
import { type Candidate, switchAgent } from './switch/switch-agent.ts'
import { disturbance } from './switch/undisturbed.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z
  .strictObject({
    release: releaseParam.describe('The release that is to run; its binaries are fetched and checked beforehand'),
    ...limitsShape,
    allow_host_root_downgrade: z
      .boolean()
      .default(false)
      .describe(
        'Also a release that does not know the root this host has, or of which nobody can say: it will fail there',
      ),
  })
  .superRefine(enoughTime)

type Params = z.output<typeof params>

/** Rules U1 to U10: the candidate beside what runs, switched behind a rollback that the host fires by itself. */
export const agentUpgraded: Task<Params> = {
  name: 'agent-upgraded',
  summary:
    'The agent is this release, seen to run and stay up; otherwise the host goes back to the one before by itself.',
  params,
  example: `name: upgrade-agent
description: Put a new agent on the host, or leave the one it has
steps:
  - task: agent-upgraded
    with:
      release:
        version: v0.4.0
        hostRootSince: v0.3.0
        amd64:
          file: aks-flex-node-linux-amd64.tar.gz
          sha256: 11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437
`,
  prepare: async (wanted, releases) => ({ ...wanted, release: await releases.fetch(wanted.release) }),
  facts: () => switchFacts(),
  plan: (view, wanted, host): Planned => {
    const binary = binaryFor(view, wanted.release)
    const armed = armedBefore(
      view,
      host,
      (candidate) => !('code' in binary) && binary.sha256 === candidate && runsBinary(view, candidate) !== null,
    )
    if (armed !== null) return armed
    const ready = readReady(view)
    if ('code' in ready) return blocked(ready)
    if ('code' in binary) return blocked(binary)
    const changes = switchAgent(view, ready, candidateOf(view, ready, binary, wanted.release), wanted)
    if (!('code' in changes) && changes.length === 0) return satisfied(notProved(ready))
    const refusal = disturbance(view, ready) ?? unfit(view, ready, binary, wanted)
    if (refusal !== null) return blocked(refusal)
    return 'code' in changes ? blocked(changes) : planned(changes, notProved(ready))
  },
}

const candidateOf = (view: HostView, ready: Ready, binary: Binary, { version }: Release): Candidate => {
  const { current, isPlain, currentSha256 } = ready.layout
  const isCurrent = currentSha256 === binary.sha256
  return {
    slot: isCurrent ? current : otherSlot(current),
    sha256: binary.sha256,
    size: binary.size,
    what: `upgrade to ${version}`,
    staging: isCurrent ? (isPlain ? seeded(view) : []) : stagedUpgrade(view, ready, binary, version),
  }
}

const unfit = (view: HostView, ready: Ready, binary: Binary, wanted: Params): ErrorDetails | null => {
  if (ready.layout.currentSha256 === binary.sha256) return null
  const { version, hostRootSince } = wanted.release
  const known = { version, hostRootSince, sha256: binary.sha256 }
  return downgradeRefusal(ready.hostRoot, knowledgeOf(view, known), known, wanted.allow_host_root_downgrade)
}

const binaryFor = (view: HostView, { version, sources, binaries }: Release): Binary | ErrorDetails => {
  const { architecture } = view.os
  const ours = architectureOf(architecture)
  if (ours === undefined || sources[ours] === undefined) {
    return {
      code: 'candidate-unfit',
      message: `The host is ${architecture}, and the release ${version} has no binary for that.`,
      remedy:
        ours === undefined
          ? 'Take the host out with --limit: no agent is built for it.'
          : `Add ${ours} to the release, or take the host out with --limit.`,
    }
  }
  const binary = binaries?.[ours]
  if (binary === undefined) throw new Error(`the release ${version} was not fetched`)
  return binary
}
