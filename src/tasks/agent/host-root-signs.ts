import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { HostRootSigns } from './host-root.ts'
import { agentUnit } from './names.ts'
import { agentBinary, agentUnitFile, hostRoots, LEGACY, layoutMarkers, movingMark, ROOT, stagingRoot } from './paths.ts'
import { isRoot, isVisible } from './visible.ts'

const lookedAt = (): readonly string[] => [
  ROOT,
  movingMark,
  stagingRoot,
  agentUnitFile,
  ...hostRoots.flatMap((root) => [agentBinary(root), ...layoutMarkers(root)]),
]

export const hostRootFacts = (): Fact[] => [
  ...lookedAt().map((path): Fact => ({ kind: 'path', path })),
  { kind: 'unit', name: agentUnit },
]

/**
 * Nothing below ROOT is read unless ROOT is a directory: below a link the same names are other files,
 * and MainPID, which a planned restart makes unknown, is read only while a move is under way.
 */
export const hostRootSigns = (view: HostView): HostRootSigns => {
  const seen = [stagingRoot, ROOT, ...layoutMarkers(LEGACY)].every((path) => isVisible(view, path))
  if (!seen) return hidden
  const root = kindOfRoot(view)
  const inside = root === 'directory'
  if (inside && ![movingMark, ...layoutMarkers(ROOT)].every((path) => isVisible(view, path))) return hidden
  const moving = inside && exists(view, movingMark)
  if (moving && !isRoot(view)) return hidden
  return {
    readable: true,
    root,
    moving,
    staging: exists(view, stagingRoot),
    legacyLayout: layoutMarkers(LEGACY).some((path) => exists(view, path)),
    rootLayout: inside && [agentBinary(ROOT), ...layoutMarkers(ROOT)].some((path) => exists(view, path)),
    plainAgent: view.node(agentBinary(LEGACY)).type === 'file' && exists(view, agentUnitFile),
    // An executable has its real name, and /opt may be a link.
    runsFromRoot: moving && view.systemd.ok && view.unit(agentUnit).exe.startsWith(`${view.realPath(ROOT)}/`),
  }
}

const exists = (view: HostView, path: string): boolean => view.node(path).type !== 'absent'

const kindOfRoot = (view: HostView): HostRootSigns['root'] => {
  const root = view.node(ROOT)
  switch (root.type) {
    case 'absent':
    case 'directory':
      return root.type
    case 'symlink':
      // The text decides, not where it leads: /opt itself may be a link (domain.md 6.1).
      return root.target === LEGACY ? 'legacy-link' : 'other-link'
    default:
      return 'other'
  }
}

const hidden: HostRootSigns = {
  readable: false,
  root: 'absent',
  moving: false,
  staging: false,
  legacyLayout: false,
  rootLayout: false,
  plainAgent: false,
  runsFromRoot: false,
}
