import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import type { HostView } from '../facts/view.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { warning } from './agent/finding.ts'
import { type HostRootState, hostRootRow, hostRootState } from './agent/host-root.ts'
import { hostRootFacts, hostRootSigns } from './agent/host-root-signs.ts'
import { agentUnit } from './agent/names.ts'
import { LEGACY, ROOT, stagingRoot } from './agent/paths.ts'
import { asSeen, underLock } from './move/lock.ts'
import { rootRefusal } from './move/movable.ts'
import { namesRoot, namesRootFacts } from './move/names-root.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'
import { systemdSilent } from './worker/refusals.ts'

const params = z.strictObject({})
const heldS = 60

/** The way back from host-root-linked, for as long as nothing has moved (domain.md 6.2). */
export const hostRootUnlinked: Task<z.output<typeof params>> = {
  name: 'host-root-unlinked',
  summary:
    'There is no link from the new root to the old one, and no copy for a move; refused where something names the new root, or has moved.',
  params,
  example: `name: unlink
description: Go back to the old root alone
steps:
  - task: host-root-unlinked
`,
  facts: (): Fact[] => mergeFacts([...hostRootFacts(), ...activationLockFacts(), ...namesRootFacts()]),
  plan: (view): Planned => {
    if (!view.systemd.ok) return blocked(systemdSilent(view.systemd.error))
    const state = hostRootState(hostRootSigns(view))
    const { migrate, when } = hostRootRow(state)
    if (migrate === 'refuse' && state !== 'LEGACY-PLAIN') return blocked(rootRefusal(view, state) ?? moved(state))
    if (state === 'EMPTY-ROOT') return satisfied()
    if (when.root === 'directory') return blocked(moved(state))
    const changes = back(view)
    if (changes.length === 0) return satisfied()
    const refusal = lockRefusal(view) ?? stillNamed(view)
    if (refusal !== null) return blocked(refusal)
    return planned(underLock(heldS, changes, asSeen(view, [ROOT, stagingRoot])), comesBack(view))
  },
}

const back = (view: HostView): Change[] => [
  ...(view.node(stagingRoot).type === 'absent'
    ? []
    : [{ kind: 'remove', path: stagingRoot, recurse: view.node(stagingRoot).type === 'directory' } as const]),
  ...(view.node(ROOT).type === 'absent' ? [] : [{ kind: 'remove', path: ROOT, recurse: false } as const]),
]

const moved = (state: HostRootState): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `There is nothing to unlink (${state}): ${hostRootRow(state).means}`,
  remedy: hostRootRow(state).goBack,
})

const stillNamed = (view: HostView): ErrorDetails | null => {
  const path = view.node(ROOT).type === 'absent' ? null : namesRoot(view)
  if (path === null) return null
  return {
    code: 'precondition-unmet',
    message: `${path} names ${ROOT}, and without the link that would lead nowhere.`,
    remedy: `Let it name ${LEGACY} first. An agent that knows the new root writes its units by itself when it starts.`,
  }
}

/** The link is the agent's own doing as much as drover's. */
const comesBack = (view: HostView): Finding[] => {
  const { isLoaded } = view.unit(agentUnit)
  if (!isLoaded) return []
  return [
    {
      ...warning({
        check: 'link-comes-back',
        target: ROOT,
        message: 'an agent that knows the new root makes the link again at its next start',
        remedy: 'Go back to an older release before that, if the link is to stay away.',
      }),
      lasting: true,
    },
  ]
}
