import { type Fact, mergeFacts } from '../../facts/fact.ts'
import { halfMovedFacts } from '../agent/half-moved.ts'
import { hostRootAgents } from '../agent/paths.ts'
import { filesFacts } from './files.ts'
import { bothKnowFacts } from './knowledge.ts'
import { movableFacts } from './movable.ts'
import { placesFacts } from './places.ts'
import { unfitFacts } from './unfit.ts'
import { unitsFacts } from './units.ts'

/** All that a move is planned on. */
export const moveFacts = (): Fact[] =>
  mergeFacts([
    ...movableFacts(),
    ...halfMovedFacts(),
    ...filesFacts(),
    ...unitsFacts(),
    ...bothKnowFacts(),
    ...unfitFacts(),
    ...placesFacts(),
    { kind: 'path', path: hostRootAgents, content: 65_536 },
    { kind: 'program', name: 'restorecon' },
  ])
