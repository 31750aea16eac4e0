import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, recoveryUnit } from '../agent/names.ts'
import {
  agentUnitFile as agentUnitPath,
  type HostRoot,
  hostRoots,
  LEGACY,
  layoutEntry,
  lifecycleHelper,
  ROOT,
  recoveryScript,
  recoveryUnitFile as recoveryUnitPath,
} from '../agent/paths.ts'
import { agentUnitFile } from '../units/agent-unit.ts'
import { recoveryScriptFile, recoveryUnitFile } from '../units/recovery.ts'
import { hooksFacts, hooksTo } from './hooks.ts'
import type { Movable } from './movable.ts'

export const unitsFacts = (): Fact[] => [
  { kind: 'path', path: agentUnitPath, content: 65_536, sha256: true },
  { kind: 'path', path: recoveryUnitPath, content: 65_536, sha256: true },
  { kind: 'unit', name: recoveryUnit },
  ...hooksFacts(),
]

/**
 * All that names a root, made to name this one, where it does not yet: the recovery before the unit whose OnFailure= it
 * is, the worker's helper before the hooks that run it (domain.md 6.3), and what systemd has loaded last of all.
 */
export const unitsTo = (view: HostView, movable: Movable, root: HostRoot): Change[] | ErrorDetails => {
  const strange = notFiles(view)
  if (strange !== null) return strange
  const hooks = hooksTo(view, root)
  if ('code' in hooks) return hooks
  const files = [...recovery(view, root), ...agentUnitTo(view, root), ...helper(view, movable, root), ...hooks]
  const isLoaded = movable.startsPath === layoutEntry(root, 'current')
  const isWritten = files.some((change) => 'model' in change)
  return [...files, ...(isWritten || !isLoaded ? [{ kind: 'systemctl', verb: 'daemon-reload' } as const] : [])]
}

/** On disk and loaded: what a start of the agent will run. */
export const unitNames = (view: HostView, { startsPath }: Movable, root: HostRoot): boolean =>
  startsPath === layoutEntry(root, 'current') && isNamed(view.text(agentUnitPath), root)

const isNamed = (text: string | null, root: HostRoot): boolean =>
  (text ?? '').split('\n').some((line) => line.startsWith(`ExecStart=${layoutEntry(root, 'current')} `))

const ofRoot = { kind: 'write', owner: 'root:root' } as const

const recovery = (view: HostView, root: HostRoot): Change[] => {
  const script = recoveryScript(root)
  const [text, unit] = [view.text(script), view.text(recoveryUnitPath)]
  const lastGoodElsewhere = layoutEntry(root === ROOT ? LEGACY : ROOT, 'last-good')
  return [
    ...(text === null || text.includes(lastGoodElsewhere)
      ? [{ ...ofRoot, path: script, content: recoveryScriptFile(root), mode: 0o750 }]
      : []),
    ...(unit === null || !unit.includes(`ExecStart=${script}`)
      ? [
          {
            ...ofRoot,
            path: recoveryUnitPath,
            content: recoveryUnitFile(root),
            mode: 0o644,
            model: { unit: recoveryUnit },
          },
        ]
      : []),
  ]
}

const agentUnitTo = (view: HostView, root: HostRoot): Change[] => {
  const text = view.text(agentUnitPath)
  if (isNamed(text, root)) return []
  const current = layoutEntry(root, 'current')
  const arc = (text ?? '').includes('himdsd.service')
  const { content, model } = agentUnitFile({ hostRoot: root, variant: 'host', arc })
  const sets = { ...model.sets, ExecStart: `{ path=${current} ; argv[]=${current} agent ; }` }
  return [{ ...ofRoot, path: agentUnitPath, content, mode: 0o644, model: { ...model, sets } }]
}

/** Only where there is one: it is the running binary (domain.md 1.1). The one of the old root is left as it is. */
const helper = (view: HostView, { layout }: Movable, root: HostRoot): Change[] => {
  const path = lifecycleHelper(root)
  const { current, currentSha256: sha256 } = layout
  const isThere = root === ROOT && hostRoots.some((each) => view.target(lifecycleHelper(each)).type === 'file')
  if (!isThere || view.sha256(path) === sha256) return []
  const node = view.node(layoutEntry(layout.root, current))
  const size = node.type === 'file' ? node.size : 0
  return [{ kind: 'copy', from: layoutEntry(root, current), sha256, size, path, mode: 0o755, owner: 'root:root' }]
}

const notFiles = (view: HostView): ErrorDetails | null => {
  const path = [agentUnitPath, recoveryUnitPath].find((file) => !['file', 'absent'].includes(view.node(file).type))
  if (path === undefined) return null
  return {
    code: 'layout-unknown',
    message: `${path} has to be written anew, and it is not a regular file.`,
    remedy: `Look at systemctl cat ${agentUnit}: no release of the agent leaves its units like that.`,
  }
}
