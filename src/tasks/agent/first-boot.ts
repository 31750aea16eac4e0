import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { bootstrapUnit } from './names.ts'
import { agentUnitFile, firstBootDirectory } from './paths.ts'
import { isInstalled, serviceFacts } from './service.ts'

export const firstBootFacts = (): Fact[] => [
  ...serviceFacts(),
  { kind: 'path', path: agentUnitFile },
  { kind: 'path', path: firstBootDirectory },
  { kind: 'unit', name: bootstrapUnit },
]

/** The bootstrap unit removes them as its last act, so while it runs they are no leftovers. */
export const firstBootLeft = (view: HostView): boolean =>
  isInstalled(view) && view.node(firstBootDirectory).type !== 'absent' && !isBootstrapping(view)

/** Ignition's own installation is at work. */
export const isBootstrapping = (view: HostView): boolean =>
  view.systemd.ok && view.unit(bootstrapUnit).get('ActiveState') === 'activating'
