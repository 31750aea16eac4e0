import { type Fact, mergeFacts } from '../../facts/fact.ts'
import { knowledgeFacts } from './host-root-knowledge.ts'
import { placesFacts } from './places.ts'
import { readyFacts } from './ready.ts'
import { unitFilesFacts } from './unit-files.ts'
import { workerBinaryFacts } from './worker-binary.ts'

/** All that a switch of the agent is planned on. */
export const switchFacts = (): Fact[] =>
  mergeFacts([...readyFacts(), ...knowledgeFacts(), ...placesFacts(), ...unitFilesFacts(), ...workerBinaryFacts()])
