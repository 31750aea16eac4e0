import { shellQuote } from '../quote.ts'
import type { GuardScope } from './change.ts'
import type { Undo } from './undo.ts'

/** What the armed rollback runs: calls of functions of rollback.sh, every word quoted. */
export const undoScript = (undo: readonly Undo[], scope: GuardScope): string =>
  [...undo.map(callOf), ['scope', scope.root, scope.lock]]
    .map(([name = '', ...words]) => [name, ...words.map(shellQuote)].join(' '))
    .join('\n')

const callOf = (undo: Undo): string[] => [`undo_${undo.kind}`]
