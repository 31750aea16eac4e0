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
 * One row per state. The rows exclude each other and leave nothing out (M4), so their order is for the
 * reader alone. MOVED is also what a fresh installation under ROOT looks like.
 */
const table = [
  { state: 'UNREADABLE', when: { readable: false } },
  { state: 'BLOCKED', when: { readable: true, root: 'other' } },
  { state: 'OPERATOR-LINK', when: { readable: true, root: 'other-link' } },
  { state: 'LINK-ORPHAN', when: { readable: true, root: 'legacy-link', legacyLayout: false } },
  { state: 'LINKED', when: { readable: true, root: 'legacy-link', legacyLayout: true, staging: false } },
  { state: 'STAGING', when: { readable: true, root: 'legacy-link', legacyLayout: true, staging: true } },
  { state: 'MOVING-1', when: { readable: true, root: 'directory', moving: true, runsFromRoot: false } },
  { state: 'MOVING-2', when: { readable: true, root: 'directory', moving: true, runsFromRoot: true } },
  { state: 'CONFLICT', when: { readable: true, root: 'directory', moving: false, legacyLayout: true } },
  {
    state: 'EMPTY-ROOT',
    when: { readable: true, root: 'directory', moving: false, legacyLayout: false, rootLayout: false },
  },
  { state: 'MOVED', when: { readable: true, root: 'directory', moving: false, legacyLayout: false, rootLayout: true } },
  { state: 'SWAP-GAP', when: { readable: true, root: 'absent', legacyLayout: true, staging: true } },
  { state: 'LEGACY', when: { readable: true, root: 'absent', legacyLayout: true, staging: false } },
  { state: 'LEGACY-PLAIN', when: { readable: true, root: 'absent', legacyLayout: false, plainAgent: true } },
  { state: 'ABSENT', when: { readable: true, root: 'absent', legacyLayout: false, plainAgent: false } },
] as const satisfies readonly { readonly state: string; readonly when: Partial<HostRootSigns> }[]

export type HostRootState = (typeof table)[number]['state']
export const hostRootStates: readonly HostRootState[] = table.map((row) => row.state)

/** Every state whose row fits: always exactly one. */
export const fittingStates = (signs: HostRootSigns): readonly HostRootState[] =>
  table.filter(({ when }) => fits(when, signs)).map((row) => row.state)

export const hostRootState = (signs: HostRootSigns): HostRootState => fittingStates(signs)[0] ?? 'UNREADABLE'

const fits = (when: Partial<HostRootSigns>, signs: HostRootSigns): boolean =>
  Object.entries(when).every(([sign, value]) => signs[sign as keyof HostRootSigns] === value)
