import { z } from 'zod'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { Release } from '../release/release.ts'
import { releaseParam } from '../release/schema.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { layoutFacts, readLayout } from './agent/layout.ts'
import { isInstalled } from './agent/service.ts'
import { binaryFor } from './install/binary.ts'
import { hostFacts, hostRefusal } from './install/host-fit.ts'
import { ownVerdict, ownVerdictFacts } from './install/own-verdict.ts'
import { anotherInstalled, notStaged } from './install/refusals.ts'
import { layoutRoot, readRootState, rootFacts } from './install/root.ts'
import { firstUnitFiles, missingUnitFiles, namesCurrent, unitFilesFacts } from './install/unit-files.ts'
import { unsettledRoot } from './switch/unsettled-root.ts'
import { blocked, type Planned, planned, type Task } from './task.ts'

const names = z.union([z.string(), z.array(z.string())])

const params = z.strictObject({
  release: releaseParam.describe('The release that lies ready, as for agent-staged'),
  ignore_preflight_errors: names
    .default([])
    .describe("Checks of the agent's own preflight whose errors count as warnings, as a list or with commas; `all`"),
})

type Params = { readonly release: Release; readonly ignore_preflight_errors: string | readonly string[] }

/** Rules M1 and M3: units are written once, after the agent has looked at the host by itself. */
export const agentInstalled: Task<Params> = {
  name: 'agent-installed',
  summary:
    "The agent's units, its recovery and its lifecycle helper are there, once its own preflight had nothing against it.",
  params,
  example: `name: install-only
description: Hosts have an agent that was never started
steps:
  - task: agent-installed
    with:
      release:
        version: v0.4.0
        hostRootSince: v0.3.0
        amd64:
          file: ./aks-flex-node-linux-amd64.tar.gz
          sha256: 11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437
`,
  prepare: async (given, releases) => ({ ...given, release: await releases.fetch(given.release) }),
  facts: (_, host): Fact[] =>
    mergeFacts([
      ...hostFacts(),
      ...rootFacts(),
      ...layoutFacts(),
      ...unitFilesFacts(),
      ...activationLockFacts(),
      ...ownVerdictFacts(host),
    ]),
  plan: (view, { release, ignore_preflight_errors }, host): Planned => {
    const refusal = hostRefusal(view, host)
    if (refusal !== null) return blocked(refusal)
    const binary = binaryFor(view, release)
    if ('code' in binary) return blocked(binary)
    const installed = isInstalled(view)
    const state = readRootState(view)
    const root = layoutRoot(state)
    if (root === null) return blocked(installed ? unsettledRoot(view, state) : notStaged(release.version))
    const layout = readLayout(view, state, root)
    if ('code' in layout) return blocked(layout)
    const isWanted = !layout.isPlain && layout.currentSha256 === binary.sha256
    if (installed) {
      if (!isWanted || !namesCurrent(view)) return blocked(anotherInstalled(release.version))
      const missing = missingUnitFiles(view, root, binary)
      const held = missing.length === 0 ? null : lockRefusal(view)
      return held === null ? planned(missing) : blocked(held)
    }
    if (!isWanted) return blocked(notStaged(release.version))
    const { findings, error } = ownVerdict(view, host, root, ignore_preflight_errors)
    if (error !== null) return blocked(error, findings)
    const changes = firstUnitFiles(view, root, binary)
    if ('code' in changes) return blocked(changes, findings)
    const held = lockRefusal(view)
    return held === null ? planned(changes, findings) : blocked(held, findings)
  },
}
