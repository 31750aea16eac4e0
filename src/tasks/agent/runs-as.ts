import type { Change } from '../../changes/change.ts'

/** How long a binary may take to say its version. One that hangs is refused here, before anything names it (U6). */
const timeoutS = 10

/** The binary is run once, and must say that it is this version; without one, that it says anything is enough. */
export const runsAs = (path: string, version: string | undefined, failure: NonNullable<Change['failure']>): Change => ({
  kind: 'await',
  condition: {
    command: [path, 'version'],
    is: 'succeeding',
    timeoutS,
    ...(version !== undefined && { line: `Version: ${version}` }),
  },
  withinMs: 0,
  stableMs: 0,
  failure,
})
