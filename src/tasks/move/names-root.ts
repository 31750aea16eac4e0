import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { agentUnit, recoveryUnit } from '../agent/names.ts'
import {
  agentBinary,
  agentUnitFile,
  dropInFile,
  LEGACY,
  layoutEntry,
  ROOT,
  recoveryScript,
  recoveryUnitFile,
} from '../agent/paths.ts'
import { hooks } from './hooks.ts'

const texts: readonly string[] = [
  agentUnitFile,
  recoveryUnitFile,
  dropInFile,
  recoveryScript(LEGACY),
  ...hooks.map(({ path }) => path),
]
/** A drop-in of somebody else's may make them start something that no text above names. */
const units = [agentUnit, recoveryUnit] as const
const links: readonly string[] = [layoutEntry(LEGACY, 'current'), layoutEntry(LEGACY, 'last-good'), agentBinary(LEGACY)]

export const namesRootFacts = (): Fact[] => [
  ...texts.map((path): Fact => ({ kind: 'path', path, content: 65_536, sha256: true })),
  ...links.map((path): Fact => ({ kind: 'path', path })),
  ...units.map((name): Fact => ({ kind: 'unit', name })),
]

/** A file or link that leads through the new root, so that it has to stay. */
export const namesRoot = (view: HostView): string | null =>
  texts.find((path) => (view.text(path) ?? '').includes(`${ROOT}/`)) ??
  links.find((path) => {
    const node = view.node(path)
    return node.type === 'symlink' && node.target.startsWith(`${ROOT}/`)
  }) ??
  units.find((unit) => view.unit(unit).get('ExecStart').includes(`path=${ROOT}/`)) ??
  null
