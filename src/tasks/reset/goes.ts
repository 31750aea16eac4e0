import { nameOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { configDirectory } from '../agent/paths.ts'
import type { Finding } from '../task.ts'
import {
  lifecycleStates,
  logDirectory,
  machineDirectories,
  nspawnFiles,
  scriptsBelow,
  unitFiles,
} from './belongings.ts'
import { distinctRoots } from './roots.ts'
import { isMask } from './stopped.ts'

/**
 * What lies there now and will go. A dry run cannot plan beyond the stop of the agent, which may still move its files until
 * then (O-4), so that nobody would see from it what a reset is about.
 */
export const goesFinding = (view: HostView): Finding[] => {
  const isThere = (path: string): boolean => view.node(path).type !== 'absent' && !isMask(view.node(path))
  const units = unitFiles.filter(isThere).map(nameOf)
  const others = [
    ...machineDirectories,
    ...nspawnFiles,
    ...lifecycleStates,
    ...distinctRoots(view).flatMap(scriptsBelow),
    configDirectory,
    logDirectory,
  ].filter(isThere)
  if (units.length + others.length === 0) return []
  return [
    warning({
      check: 'what-goes',
      target: 'host',
      message: `what goes: ${[...units, ...others].join(', ')}`,
      remedy: 'If anything of it is still wanted, take it elsewhere first.',
    }),
  ]
}
