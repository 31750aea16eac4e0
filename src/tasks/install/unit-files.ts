import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import type { Binary } from '../../release/release.ts'
import { configFacts } from '../agent/config.ts'
import { agentUnit, recoveryUnit } from '../agent/names.ts'
import {
  agentUnitFile as agentUnitPath,
  configFile,
  type HostRoot,
  hostRoots,
  layoutEntry,
  lifecycleHelper,
  recoveryScript,
  recoveryUnitFile as recoveryUnitPath,
} from '../agent/paths.ts'
import { dig } from '../config/dig.ts'
import { agentUnitFile } from '../units/agent-unit.ts'
import { recoveryScriptFile, recoveryUnitFile } from '../units/recovery.ts'

const textLimit = 65_536

export const unitFilesFacts = (): Fact[] => [
  ...configFacts(),
  { kind: 'unit', name: agentUnit, starts: true },
  { kind: 'unit', name: recoveryUnit },
  { kind: 'path', path: agentUnitPath, content: textLimit, sha256: true },
  { kind: 'path', path: recoveryUnitPath, content: textLimit, sha256: true },
  ...hostRoots.flatMap((root): Fact[] => [
    { kind: 'path', path: recoveryScript(root), content: textLimit, sha256: true },
    { kind: 'path', path: lifecycleHelper(root), sha256: true },
  ]),
]

/** Whether the unit on disk runs `current` of either root: a linked host may name it through both. */
export const namesCurrent = (view: HostView): boolean => {
  const lines = (view.text(agentUnitPath) ?? '').split('\n')
  return hostRoots.some((root) =>
    lines.some((line) => line.startsWith(`ExecStart=${layoutEntry(root, 'current')} agent`)),
  )
}

/**
 * Everything that the agent's unit relies on comes before it, and the unit itself last: a host on which this was cut
 * has no unit that names what is not there (domain.md 3.3).
 */
export const firstUnitFiles = (view: HostView, root: HostRoot, binary: Binary): Change[] | ErrorDetails => {
  const wanted = [
    { path: recoveryScript(root), content: recoveryScriptFile(root), mode: 0o750 },
    { path: recoveryUnitPath, content: recoveryUnitFile(root), mode: 0o644, model: { unit: recoveryUnit } },
  ]
  const inTheWay = [...wanted.map(({ path }) => path), agentUnitPath]
    .map((path) => notAFile(view, path))
    .find((error) => error !== null)
  if (inTheWay !== undefined) return inTheWay
  return [
    ...wanted
      .filter(({ path, content }) => view.text(path) !== content)
      .map((file): Change => ({ ...ofRoot, ...file })),
    ...lifecycleHelperCopy(view, root, binary),
    agentUnitWrite(view, root),
    { kind: 'systemctl', verb: 'daemon-reload' },
  ]
}

/** What an installed agent cannot do without. It writes all of it by itself, so what is there is not compared (W1). */
export const missingUnitFiles = (view: HostView, root: HostRoot, binary: Binary): Change[] => {
  const isMissing = (path: string): boolean => view.node(path).type === 'absent'
  const script = recoveryScript(root)
  const recovery: Change[] = [
    ...(isMissing(script) ? [{ ...ofRoot, path: script, content: recoveryScriptFile(root), mode: 0o750 }] : []),
    ...(isMissing(recoveryUnitPath)
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
  return [
    ...recovery,
    ...(isMissing(lifecycleHelper(root)) ? lifecycleHelperCopy(view, root, binary) : []),
    ...(recovery.length > 0 ? [{ kind: 'systemctl', verb: 'daemon-reload' } as const] : []),
  ]
}

const ofRoot = { kind: 'write', owner: 'root:root' } as const

const lifecycleHelperCopy = (view: HostView, root: HostRoot, { sha256, size }: Binary): Change[] => {
  const path = lifecycleHelper(root)
  if (view.sha256(path) === sha256) return []
  return [{ kind: 'copy', from: layoutEntry(root, 'current'), sha256, size, path, mode: 0o755, owner: 'root:root' }]
}

const agentUnitWrite = (view: HostView, root: HostRoot): Change => {
  const { content, model } = agentUnitFile({ hostRoot: root, variant: 'host', arc: wantsArc(view) })
  const current = layoutEntry(root, 'current')
  return {
    ...ofRoot,
    path: agentUnitPath,
    content,
    mode: 0o644,
    model: {
      ...model,
      sets: {
        LoadState: 'loaded',
        LoadError: '',
        UnitFileState: 'disabled',
        FragmentPath: agentUnitPath,
        ExecStart: `{ path=${current} ; argv[]=${current} agent --config ${configFile} ; }`,
        Type: 'simple',
        StartLimitIntervalUSec: '5min',
        StartLimitBurst: '5',
        NRestarts: '0',
        Result: 'success',
        MainPID: '0',
        ExecMainStatus: '0',
      },
    },
  }
}

/** Nothing of the configuration but this one answer gets out of here. */
const wantsArc = (view: HostView): boolean => {
  try {
    return dig(JSON.parse(view.text(configFile) ?? ''), 'azure.arc.enabled') === true
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false
    throw thrown
  }
}

const notAFile = (view: HostView, path: string): ErrorDetails | null => {
  const node = view.node(path)
  if (node.type === 'absent' || node.type === 'file') return null
  const isMask = node.type === 'symlink' && node.target === '/dev/null'
  return {
    code: 'path-in-the-way',
    message: `${path} is ${isMask ? 'masked: a link to /dev/null' : node.type === 'symlink' ? `a link to ${node.target}` : `a ${node.type}`}. It was left alone.`,
    remedy: isMask
      ? `If nobody masked it on purpose: systemctl unmask on the host. drover never unmasks.`
      : 'Look at who put it there. drover replaces nothing that is not its own.',
  }
}
