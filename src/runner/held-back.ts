import type { Change } from '../changes/change.ts'
import type { ErrorDetails } from '../errors.ts'
import { armedOf } from '../facts/armed.ts'
import type { HostState } from '../facts/state.ts'
import type { Host } from '../inventory/host.ts'
import { armedRemedy, armedWords } from '../tasks/agent/rollback-words.ts'

/**
 * A rollback that another run armed holds back every step that does not begin with what becomes of it (U4): it would
 * undo half of what was done meanwhile, or undo it under somebody's feet.
 */
export const heldBack = (state: HostState, wanted: readonly Change[], { name }: Host): ErrorDetails | null => {
  const armed = armedOf(state.self)
  const [first] = wanted
  if (armed === null || first === undefined || first.kind === 'confirm' || first.kind === 'fire') return null
  const words = armedWords(armed, state.os.uptimeS)
  return {
    code: 'rollback-armed',
    message: `${words.charAt(0).toUpperCase()}${words.slice(1)}. Nothing else is done before that is decided.`,
    remedy: armedRemedy(armed, state.self, name),
  }
}
