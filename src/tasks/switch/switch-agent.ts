import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import type { Slot } from '../agent/layout.ts'
import { agentBinary, layoutEntry } from '../agent/paths.ts'
import { guarded } from './guarded.ts'
import type { Limits } from './limits.ts'
import type { Ready } from './ready.ts'
import { restartOf } from './restart.ts'
import { seedGuard } from './seed-guard.ts'
import { needsReload, unitFiles } from './unit-files.ts'
import { workerBinaryCopy } from './worker-binary.ts'

/** The binary that `current` is to lead to, and how it comes into its slot. */
export interface Candidate {
  readonly slot: Slot
  readonly sha256: string
  readonly size: number
  readonly what: string
  /** Before it is made current: last-good secured, the binary brought, and run. */
  readonly staging: readonly Change[]
}

/** `current` to the candidate, and all that goes with it. Empty where nothing is missing. */
export const switchAgent = (
  view: HostView,
  ready: Ready,
  candidate: Candidate,
  limits: Limits,
): Change[] | ErrorDetails => {
  const { root, current } = ready.layout
  const place = layoutEntry(root, candidate.slot)
  const isOther = current !== candidate.slot
  const seed = isOther ? seedGuard(view, ready) : []
  if ('code' in seed) return seed
  const units = unitFiles(view, ready)
  if ('code' in units) return units
  const inWorker = workerBinaryCopy(view, ready.activeMachine, { ...candidate, path: place })
  if ('code' in inWorker) return inWorker
  const binary = binaryLink(view, ready)
  if ('code' in binary) return binary
  const switching: Change[] = [
    ...seed,
    ...units,
    ...(isOther ? [link(layoutEntry(root, 'current'), place)] : []),
    ...binary,
    ...inWorker,
    ...(needsReload(units) ? [{ kind: 'systemctl', verb: 'daemon-reload' } as const] : []),
  ]
  const isFailed = ready.service.activeState === 'failed'
  if (switching.length === 0 && !isFailed) return []
  const mustStart = isOther || units.length > 0 || isFailed
  const restart = mustStart
    ? restartOf(view, ready, { limits, exe: view.realPath(place), units })
    : { room: [], start: [], awaits: [] }
  if ('code' in restart) return restart
  const group = { what: candidate.what, candidate: candidate.sha256, staging: candidate.staging, switching, restart }
  return guarded(view, ready, limits, group)
}

export const link = (path: string, target: string): Change => ({ kind: 'link', path, target })

/** `R/bin/aks-flex-node` leads to `current`. A file there goes first: only so can the host put it back. */
const binaryLink = (view: HostView, { layout }: Ready): Change[] | ErrorDetails => {
  const path = agentBinary(layout.root)
  const current = layoutEntry(layout.root, 'current')
  const node = view.node(path)
  const above = parentOf(path)
  switch (node.type) {
    case 'symlink':
      return node.target === current ? [] : [link(path, current)]
    case 'file':
      return [{ kind: 'remove', path, recurse: false }, link(path, current)]
    case 'absent':
      return [
        ...(view.target(above).type === 'absent'
          ? [{ kind: 'directory', path: above, mode: 0o755, owner: 'root:root' } as const]
          : []),
        link(path, current),
      ]
    default:
      return {
        code: 'path-in-the-way',
        message: `${path} is a ${node.type}, where the link to the agent belongs. It was left alone.`,
        remedy: 'Look at who put it there, and move it away.',
      }
  }
}
