import { z } from 'zod'
import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import { type Fact, mergeFacts } from '../facts/fact.ts'
import { parentOf } from '../facts/tree.ts'
import type { HostView } from '../facts/view.ts'
import { activationLockFacts, lockRefusal } from './agent/activation-lock.ts'
import { warning } from './agent/finding.ts'
import { hostRootRow, hostRootState } from './agent/host-root.ts'
import { hostRootFacts, hostRootSigns } from './agent/host-root-signs.ts'
import { strangeNode } from './agent/layout.ts'
import { LEGACY, ROOT, stagingRoot } from './agent/paths.ts'
import { isInstalled, serviceFacts } from './agent/service.ts'
import { asSeen, underLock } from './move/lock.ts'
import { rootRefusal } from './move/movable.ts'
import { blocked, type Finding, type Planned, planned, satisfied, type Task } from './task.ts'
import { agentMissing, systemdSilent } from './worker/refusals.ts'

const params = z.strictObject({})
const above = parentOf(ROOT)
const heldS = 60

/** The reversible half of a migration (domain.md 6.2): every older path stays what it was, and a host can go back. */
export const hostRootLinked: Task<z.output<typeof params>> = {
  name: 'host-root-linked',
  summary:
    "The agent's new root is there: as a link to the old one where the agent still lives there. A link to no agent is removed.",
  params,
  example: `name: link
description: Let the agent be found under its new root, too
steps:
  - task: host-root-linked
`,
  facts: (): Fact[] =>
    mergeFacts([
      ...hostRootFacts(),
      ...serviceFacts(),
      ...activationLockFacts(),
      { kind: 'path', path: above },
      { kind: 'mount', path: above },
    ]),
  plan: (view): Planned => {
    if (!view.systemd.ok) return blocked(systemdSilent(view.systemd.error))
    const state = hostRootState(hostRootSigns(view))
    const { migrate } = hostRootRow(state)
    if (migrate === 'nothing') return satisfied([nothingToLink])
    const refusal = rootRefusal(view, state)
    if (refusal !== null) return blocked(refusal)
    if (migrate !== 'link' && migrate !== 'drop-link') return satisfied()
    if (migrate === 'link' && !isInstalled(view)) return blocked(agentMissing)
    const disturbed = lockRefusal(view) ?? readOnly(view) ?? inTheWay(view)
    if (disturbed !== null) return blocked(disturbed)
    const changes: Change[] =
      migrate === 'link'
        ? [...directories(view), { kind: 'link', path: ROOT, target: LEGACY }]
        : [{ kind: 'remove', path: ROOT, recurse: false }]
    return planned(underLock(heldS, changes, asSeen(view, [ROOT, stagingRoot])))
  },
}

/** Made where they are missing and never touched otherwise, whatever their mode, owner and contents. */
const directories = (view: HostView): Change[] =>
  [parentOf(above), above]
    .filter((path) => view.target(path).type === 'absent')
    .map((path): Change => ({ kind: 'directory', path, mode: 0o755, owner: 'root:root' }))

const inTheWay = (view: HostView): ErrorDetails | null => {
  const path = [parentOf(above), above].find((each) => {
    const isDangling = view.target(each).type === 'absent' && view.node(each).type !== 'absent'
    return isDangling || !['absent', 'directory'].includes(view.target(each).type)
  })
  if (path === undefined) return null
  return {
    code: 'path-in-the-way',
    message: `${path} is ${strangeNode(view.node(path))}, where a directory belongs. It was left alone.`,
    remedy: 'Look at who put it there, and move it away.',
  }
}

const readOnly = (view: HostView): ErrorDetails | null => {
  const { readOnly: isReadOnly, mountPoint, fsType } = view.mount(above)
  if (!isReadOnly) return null
  return {
    code: 'precondition-unmet',
    message: `${ROOT} cannot be made: its file system (${fsType} on ${mountPoint}) is mounted read-only.`,
    remedy: 'Make it writable. If it was writable before, the kernel may have found errors: see dmesg.',
  }
}

const nothingToLink: Finding = warning({
  check: 'nothing-to-move',
  target: ROOT,
  message: `no agent is laid out on the host, neither below ${ROOT} nor below ${LEGACY}`,
  remedy: 'Take the host out with --limit, or install the agent: it goes to the right place by itself.',
})
