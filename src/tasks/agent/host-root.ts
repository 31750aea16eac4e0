/** What tells the states of domain.md 6.1 apart, as plain data. */
export interface HostRootSigns {
  readonly readable: boolean
  /** ROOT by lstat; `legacy-link` only if its text is exactly /usr/local. */
  readonly root: 'absent' | 'legacy-link' | 'other-link' | 'directory' | 'other'
  readonly moving: boolean
  readonly staging: boolean
  /** Any of the four layout entries under /usr/local. */
  readonly legacyLayout: boolean
  /** ROOT holds a layout entry or a binary. */
  readonly rootLayout: boolean
  /** A plain binary in /usr/local/bin and an installed unit: a release before blue/green (O-8). */
  readonly plainAgent: boolean
  /** The running agent's executable lies under ROOT. */
  readonly runsFromRoot: boolean
}

/**
 * What `migrate` does next on a host in a state. `link` and `drop-link` change a name, `move` is the first pass, `restart`
 * the start between both, `finish` the second pass; `done` and `nothing` want no change, `refuse` needs a person.
 */
export type MigrationStep = 'link' | 'drop-link' | 'move' | 'restart' | 'finish' | 'done' | 'nothing' | 'refuse'

interface Row {
  readonly state: string
  readonly when: Partial<HostRootSigns>
  /** One sentence for whoever meets the state. */
  readonly means: string
  readonly migrate: MigrationStep
  /** Every state that the next step of drover, of the agent, or a cut of either leads to. */
  readonly leadsTo: readonly string[]
  /** Whether upgrade and rollback may switch the agent (domain.md 6.6). */
  readonly switches: boolean
  readonly goBack: string
  /** What to do where drover does nothing; null where it does, or nothing is wanted. */
  readonly remedy: string | null
}

/**
 * The state machine of the host root (domain.md 6), one row per state. The rows exclude each other and leave nothing
 * out (M4), so their order is for the reader alone. MOVED is also what a fresh installation under ROOT looks like.
 * Planning, `drover status`, docs/migration.md and the tests are derived from it.
 */
const table = [
  {
    state: 'UNREADABLE',
    when: { readable: false },
    means: 'What lies at /opt/unbounded/agent and below /usr/local cannot be read without root rights.',
    migrate: 'refuse',
    leadsTo: [],
    switches: false,
    goBack: 'Nothing was changed.',
    remedy: 'Log in as root, or get root rights through sudo: -b, or `become: true` in the inventory.',
  },
  {
    state: 'BLOCKED',
    when: { readable: true, root: 'other' },
    means: '/opt/unbounded/agent is neither a directory nor a link, and the agent refuses to start.',
    migrate: 'refuse',
    leadsTo: ['BLOCKED'],
    switches: false,
    goBack: 'Nothing was changed.',
    remedy: 'Look at who put it there and move it away. The worker goes on running meanwhile.',
  },
  {
    state: 'OPERATOR-LINK',
    when: { readable: true, root: 'other-link' },
    means: 'An operator made /opt/unbounded/agent a link to a place of their own; the agent takes that for its root.',
    migrate: 'refuse',
    leadsTo: ['OPERATOR-LINK'],
    switches: false,
    goBack: 'Nothing was changed. The link is kept by reset and uninstall, too.',
    remedy:
      'There is nothing to move: the agent lives where the link leads. To change that, reset, remove the link, and install.',
  },
  {
    state: 'LINK-ORPHAN',
    when: { readable: true, root: 'legacy-link', legacyLayout: false },
    means: 'The link to /usr/local is there and no agent is, as after the reset of an older release.',
    migrate: 'drop-link',
    leadsTo: ['ABSENT', 'LEGACY-PLAIN', 'LINKED'],
    switches: false,
    goBack: 'The link led to no agent, so nobody misses it.',
    remedy: null,
  },
  {
    state: 'LINKED',
    when: { readable: true, root: 'legacy-link', legacyLayout: true, staging: false },
    means: 'The agent runs from /usr/local and is found under /opt/unbounded/agent, too. Nothing has moved.',
    migrate: 'move',
    leadsTo: ['STAGING', 'SWAP-GAP', 'MOVING-1', 'LEGACY', 'LINK-ORPHAN'],
    switches: true,
    goBack: 'drover run unlink; older releases run here as before.',
    remedy: null,
  },
  {
    state: 'STAGING',
    when: { readable: true, root: 'legacy-link', legacyLayout: true, staging: true },
    means:
      'A copy for the new root is being built, or a cut run or undone move left one. The agent runs from /usr/local.',
    migrate: 'move',
    leadsTo: ['LINKED', 'SWAP-GAP', 'MOVING-1'],
    switches: false,
    goBack: 'drover run unlink removes the copy and the link.',
    remedy: null,
  },
  {
    state: 'MOVING-1',
    when: { readable: true, root: 'directory', moving: true, runsFromRoot: false },
    means: 'Both roots hold a whole installation, and the agent has not been started from the new one yet.',
    migrate: 'restart',
    leadsTo: ['MOVING-2', 'SWAP-GAP', 'STAGING', 'LINKED', 'MOVED'],
    switches: false,
    goBack:
      'Only where the copy does not run, and then drover or the agent does it by itself: the host is LINKED again.',
    remedy: null,
  },
  {
    state: 'MOVING-2',
    when: { readable: true, root: 'directory', moving: true, runsFromRoot: true },
    means: 'The agent runs from the new root, and the files under /usr/local are being removed.',
    migrate: 'finish',
    leadsTo: ['MOVED', 'MOVING-1'],
    switches: false,
    goBack: 'No way back any more: let it come to its end.',
    remedy: null,
  },
  {
    state: 'CONFLICT',
    when: { readable: true, root: 'directory', moving: false, legacyLayout: true },
    means: 'Both roots hold an installation and no move is under way: the agent refuses to start.',
    migrate: 'refuse',
    leadsTo: ['CONFLICT', 'MOVED', 'EMPTY-ROOT'],
    switches: false,
    goBack: 'Nothing was changed.',
    remedy:
      'Find out which of the two the node runs. Then drover run uninstall, which resets the host and removes both, and install again. Remove nothing while the agent runs.',
  },
  {
    state: 'EMPTY-ROOT',
    when: { readable: true, root: 'directory', moving: false, legacyLayout: false, rootLayout: false },
    means: 'The new root is there and no agent in it, as between two steps of an installation.',
    migrate: 'nothing',
    leadsTo: ['MOVED'],
    switches: false,
    goBack: 'There is nothing to go back from.',
    remedy: 'Install the agent: it goes there.',
  },
  {
    state: 'MOVED',
    when: { readable: true, root: 'directory', moving: false, legacyLayout: false, rootLayout: true },
    means: 'The agent lives under /opt/unbounded/agent, moved there or installed there.',
    migrate: 'done',
    leadsTo: ['EMPTY-ROOT', 'ABSENT'],
    switches: true,
    goBack: 'Not to /usr/local: releases from before the host root do not run here.',
    remedy: null,
  },
  {
    state: 'SWAP-GAP',
    when: { readable: true, root: 'absent', legacyLayout: true, staging: true },
    means: 'A move was cut in the moment between removing the link and putting the copy in its place.',
    migrate: 'link',
    leadsTo: ['STAGING', 'MOVING-1', 'LEGACY', 'LEGACY'],
    switches: false,
    goBack: 'drover run unlink removes the copy.',
    remedy: null,
  },
  {
    state: 'LEGACY',
    when: { readable: true, root: 'absent', legacyLayout: true, staging: false },
    means: 'The agent runs from /usr/local, and no release that knows the new root has been here.',
    migrate: 'link',
    leadsTo: ['LINKED'],
    switches: true,
    goBack: 'There is nothing to go back from.',
    remedy: null,
  },
  {
    state: 'LEGACY-PLAIN',
    when: { readable: true, root: 'absent', legacyLayout: false, plainAgent: true },
    means: 'A release from before the blue/green layout: one plain binary in /usr/local/bin.',
    migrate: 'refuse',
    leadsTo: ['LEGACY'],
    switches: true,
    goBack: 'There is nothing to go back from.',
    remedy: 'Upgrade it first: that lays out both slots and keeps the old binary to go back to.',
  },
  {
    state: 'ABSENT',
    when: { readable: true, root: 'absent', legacyLayout: false, plainAgent: false },
    means: 'No agent is laid out on the host; a plain binary in /usr/local/bin alone is none.',
    migrate: 'nothing',
    leadsTo: ['EMPTY-ROOT', 'LEGACY', 'LEGACY-PLAIN'],
    switches: false,
    goBack: 'There is nothing to go back from.',
    remedy: 'Install the agent.',
  },
] as const satisfies readonly Row[]

export type HostRootState = (typeof table)[number]['state']
export const hostRootStates: readonly HostRootState[] = table.map((row) => row.state)

export interface HostRootRow extends Row {
  readonly state: HostRootState
  readonly leadsTo: readonly HostRootState[]
}

export const hostRootTable: readonly HostRootRow[] = table

export const hostRootRow = (state: HostRootState): HostRootRow =>
  hostRootTable.find((row) => row.state === state) as HostRootRow

/** A move was begun here and is not over: nothing else may touch the agent's files, and `migrate` goes on with it. */
export const isHalfMoved = (state: HostRootState): boolean => {
  const { switches, migrate } = hostRootRow(state)
  return !switches && ['link', 'move', 'restart', 'finish'].includes(migrate)
}

/** Every state whose row fits: always exactly one. */
export const fittingStates = (signs: HostRootSigns): readonly HostRootState[] =>
  table.filter(({ when }) => fits(when, signs)).map((row) => row.state)

export const hostRootState = (signs: HostRootSigns): HostRootState => fittingStates(signs)[0] ?? 'UNREADABLE'

const fits = (when: Partial<HostRootSigns>, signs: HostRootSigns): boolean =>
  Object.entries(when).every(([sign, value]) => signs[sign as keyof HostRootSigns] === value)
