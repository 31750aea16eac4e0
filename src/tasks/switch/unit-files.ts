import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, recoveryUnit } from '../agent/names.ts'
import {
  agentUnitFile as agentUnitPath,
  hostRoots,
  layoutEntry,
  recoveryScript,
  recoveryUnitFile,
  unitDirectory,
} from '../agent/paths.ts'
import { agentUnitFile } from '../units/agent-unit.ts'
import { recoveryScriptFile, recoveryUnitFile as recoveryUnitText } from '../units/recovery.ts'
import { type Ready, startsCurrent } from './ready.ts'

export const unitFilesFacts = (): Fact[] => [
  { kind: 'path', path: recoveryUnitFile, content: 65_536, sha256: true },
  ...hostRoots.map((root): Fact => ({ kind: 'path', path: recoveryScript(root), sha256: true })),
]

/**
 * The agent writes these by itself at every start, so they are judged by what systemd made of them (W1), and drover
 * writes them only where the agent that runs does not know them: the recovery first, so that no unit names what is
 * not there yet (domain.md 3.3).
 */
export const unitFiles = (view: HostView, ready: Ready): Change[] | ErrorDetails => {
  const { root } = ready.layout
  const script = recoveryScript(root)
  const recovery: Change[] = [
    ...(isThere(view, script)
      ? []
      : [{ ...ofRoot, path: script, content: recoveryScriptFile(root), mode: 0o750 } as const]),
    ...(isThere(view, recoveryUnitFile)
      ? []
      : [
          {
            ...ofRoot,
            path: recoveryUnitFile,
            content: recoveryUnitText(root),
            mode: 0o644,
            model: { unit: recoveryUnit },
          } as const,
        ]),
  ]
  if (startsCurrent(ready)) return recovery
  if (ready.service.variant === 'container') return containerVariant(ready.startsPath)
  if (view.node(agentUnitPath).type !== 'file') return notOurs
  const { content, model } = agentUnitFile({ hostRoot: root, variant: 'host', arc: hasArc(view) })
  const current = layoutEntry(root, 'current')
  return [
    ...recovery,
    {
      ...ofRoot,
      path: agentUnitPath,
      content,
      mode: 0o644,
      model: { ...model, sets: { ...model.sets, ExecStart: `{ path=${current} ; argv[]=${current} agent ; }` } },
    },
  ]
}

export const writesAgentUnit = (units: readonly Change[]): boolean =>
  units.some((change) => change.kind === 'write' && change.path === agentUnitPath)
export const needsReload = (units: readonly Change[]): boolean =>
  units.some((change) => change.kind === 'write' && change.path.startsWith(`${unitDirectory}/`))

const ofRoot = { kind: 'write', owner: 'root:root' } as const
const isThere = (view: HostView, path: string): boolean => view.node(path).type !== 'absent'
const hasArc = (view: HostView): boolean => (view.text(agentUnitPath) ?? '').includes('himdsd.service')

const containerVariant = (path: string): ErrorDetails => ({
  code: 'layout-unknown',
  message: `${agentUnit} of the container variant runs ${path}, which is not what the agent switches.`,
  remedy:
    'drover never rewrites the unit of the container variant. Upgrade this host by AgentUpgrade from the cluster.',
})

const notOurs: ErrorDetails = {
  code: 'layout-unknown',
  message: `${agentUnit} has to be written anew, and ${agentUnitPath} is not a regular file.`,
  remedy: `Look at systemctl cat ${agentUnit}: no release of the agent leaves its unit like that.`,
}
