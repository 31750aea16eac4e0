import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { Release } from '../release/release.ts'
import { releaseParam } from '../release/schema.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { layoutFacts, readLayout } from './agent/layout.ts'
import { hostRoots, layoutEntry, lifecycleHelper } from './agent/paths.ts'
import { isInstalled } from './agent/service.ts'
import { binaryFor } from './install/binary.ts'
import { directoriesFacts } from './install/directories.ts'
import { hostFacts, hostRefusal } from './install/host-fit.ts'
import { keptBinaryFacts } from './install/kept-binary.ts'
import { ownPreflightFacts } from './install/own-preflight.ts'
import { anotherInstalled } from './install/refusals.ts'
import { installRoot, layoutRoot, readRootState, rootFacts } from './install/root.ts'
import { knowledgeRefusal } from './install/root-knowledge.ts'
import { stage } from './install/stage.ts'
import { knowledgeFacts } from './switch/host-root-knowledge.ts'
import { placeRefusal, placesFacts } from './switch/places.ts'
import { unsettledRoot } from './switch/unsettled-root.ts'
import { blocked, type Planned, planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({
  release: releaseParam.describe('The release: its version, and per architecture a file or URL with its sha256'),
  use_operator_link: z
    .boolean()
    .default(false)
    .describe('Install through a link that an operator made at /opt/unbounded/agent, into where it leads'),
  force_ssh_install: z
    .boolean()
    .default(false)
    .describe('Also install on an image-managed host that has no agent yet, which Ignition is for'),
})

type Params = { readonly release: Release; readonly use_operator_link: boolean; readonly force_ssh_install: boolean }

/** Rules M1 and M2: the binary lies ready in its slot and has been run, and no unit names it yet. */
export const agentStaged: Task<Params> = {
  name: 'agent-staged',
  summary: "A release of the agent lies ready in the agent's own layout and has been run there; no unit names it yet.",
  params,
  example: `name: stage
description: Bring a release to hosts that have no agent
steps:
  - task: agent-staged
    with:
      release:
        version: v0.4.0
        hostRootSince: v0.3.0
        amd64:
          file: ./aks-flex-node-linux-amd64.tar.gz
          sha256: 11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437
`,
  prepare: async (given, releases) => ({ ...given, release: await releases.fetch(given.release) }),
  facts: (): Fact[] =>
    mergeFacts([
      ...hostFacts(),
      ...rootFacts(),
      ...layoutFacts(),
      ...directoriesFacts(),
      ...keptBinaryFacts(),
      ...placesFacts(),
      ...knowledgeFacts(),
      ...activationLockFacts(),
      ...ownPreflightFacts(),
      ...hostRoots.map((root): Fact => ({ kind: 'path', path: lifecycleHelper(root), sha256: true })),
    ]),
  plan: (view, { release, ...choice }, host): Planned => {
    const refusal = hostRefusal(view, host)
    if (refusal !== null) return blocked(refusal)
    const binary = binaryFor(view, release)
    if ('code' in binary) return blocked(binary)
    if (isInstalled(view)) {
      const state = readRootState(view)
      const root = layoutRoot(state)
      if (root === null) return blocked(unsettledRoot(view, state))
      const layout = readLayout(view, state, root)
      if (!('code' in layout) && !layout.isPlain && layout.currentSha256 === binary.sha256) return satisfied()
      return blocked(anotherInstalled(release.version))
    }
    const root = installRoot(view, choice)
    if (typeof root === 'object') return blocked(root)
    const older = knowledgeRefusal(view, root, release, binary.sha256)
    if (older !== null) return blocked(older)
    const staged = stage(view, { root, binary, version: release.version })
    if ('code' in staged) return blocked(staged)
    const { changes, findings } = staged
    if (changes.length === 0) return satisfied(findings)
    const helper = {
      kind: 'copy',
      from: layoutEntry(root, 'current'),
      ...binary,
      path: lifecycleHelper(root),
      mode: 0o755,
      owner: 'root:root',
    } as const
    const unready = placeRefusal(view, [...changes, helper]) ?? lockRefusal(view)
    return unready === null ? planned(changes, findings) : blocked(unready, findings)
  },
}
