import type { Change, Expectation } from '../../changes/change.ts'
import type { HostView } from '../../facts/view.ts'
import { activationLock } from '../agent/paths.ts'

/**
 * The changes under the agent's own lock (U2), which is let go before anything that the agent needs it for (M5). What the
 * agent could have changed until drover had the lock is looked at once more under it.
 */
export const underLock = (forS: number, changes: readonly Change[], relies: readonly Expectation[]): Change[] => {
  const [first, ...rest] = changes
  if (first === undefined) return []
  return [
    { kind: 'hold', lock: activationLock, forS },
    { ...first, relies: [...(first.relies ?? []), ...relies] },
    ...rest,
    { kind: 'release', lock: activationLock },
  ]
}

/** These paths are what they were when the plan was made. */
export const asSeen = (view: HostView, paths: readonly string[]): Expectation[] =>
  paths.flatMap((path): Expectation[] => {
    const node = view.node(path)
    if (node.type === 'symlink') return [{ path, is: 'symlink', target: node.target }]
    return node.type === 'unreadable' ? [] : [{ path, is: node.type }]
  })
