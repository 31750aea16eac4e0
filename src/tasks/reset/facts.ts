import { type Fact, mergeFacts } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import { activationLockFacts } from '../agent/activation-lock.ts'
import { hostRootFacts } from '../agent/host-root-signs.ts'
import { hostRoots, upgradeSignalFile } from '../agent/paths.ts'
import { serviceFacts } from '../agent/service.ts'
import {
  bpffs,
  dropIn,
  hostRouteLinks,
  hostRouteUnits,
  lifecycleStates,
  nspawnFiles,
  scriptsBelow,
  trees,
  unitFileOf,
  unitFiles,
  units,
  wantsLinks,
} from './belongings.ts'
import { binaryFacts } from './binary.ts'
import { networkFacts } from './network.ts'

/** Every path that a reset may remove. */
const removable: readonly string[] = [
  ...unitFiles,
  ...[...units, ...hostRouteUnits].flatMap(wantsLinks),
  ...hostRouteUnits.flatMap((unit) => [unitFileOf(unit), ...hostRouteLinks(unit)]),
  dropIn,
  ...nspawnFiles,
  ...lifecycleStates,
  ...hostRoots.flatMap(scriptsBelow),
  ...trees,
]

/** Trees of which a mount point in them is no part. */
export const mountsBelow: readonly string[] = [...trees, bpffs]

export const mountsFacts = (paths: readonly string[]): Fact[] => [{ kind: 'probe', name: 'mounts-below', args: paths }]

/** All that a reset is planned on. */
export const resetFacts = (): Fact[] =>
  mergeFacts([
    ...hostRootFacts(),
    ...serviceFacts(),
    ...activationLockFacts(),
    ...binaryFacts(),
    ...networkFacts(),
    ...mountsFacts(mountsBelow),
    ...[...units, ...hostRouteUnits].map((name): Fact => ({ kind: 'unit', name })),
    ...removable.flatMap((path): Fact[] => [
      { kind: 'path', path },
      { kind: 'mount', path: parentOf(path) },
    ]),
    { kind: 'path', path: parentOf(dropIn), entries: true },
    { kind: 'path', path: upgradeSignalFile },
  ])
