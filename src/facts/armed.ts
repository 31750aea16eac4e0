import type { SelfFacts } from './state.ts'

/** An armed rollback, or one that is being carried out, as its owner line on the host says. */
export interface Armed {
  readonly phase: 'armed' | 'undoing'
  readonly run: string
  readonly operator: string
  /** ISO 8601, by the host's clock. */
  readonly since: string
  /** Seconds of uptime at which the host fires it by itself, unless it is booted before. */
  readonly firesAtS: number
  /** Digest of what is to be confirmed. */
  readonly candidate: string
  /** For people: `upgrade to v0.4.0`. */
  readonly what: string
  /** Its changes came to their end, and what they started was seen to be healthy and is still that very process. */
  readonly isProved: boolean
}

/** Null: nothing is armed. A line that cannot be read is still one: its fields are empty. */
export const armedOf = ({ rollback }: SelfFacts): Armed | null => {
  if (rollback === null || rollback.phase === 'rolled-back') return null
  const [run = '', operator = '', since = '', firesAt = '', candidate = '', ...what] = rollback.text.split(' ')
  return {
    phase: rollback.phase,
    run,
    operator,
    since,
    firesAtS: Number(firesAt) || 0,
    candidate,
    what: what.join(' '),
    isProved: rollback.isProved === true,
  }
}

const ends = ['rolled-back', 'rolled-back-not-up', 'superseded', 'superseded-by-move'] as const

/** How a rollback ended, which the host keeps in one line until a run has told of it. */
export interface RolledBack {
  readonly run: string
  readonly operator: string
  readonly since: string
  /**
   * `rolled-back-not-up`: all files are back, and the agent does not stay up with them. `superseded`: nothing was undone,
   * since what was to be undone had been changed by somebody else; `-by-move`: by the agent's move.
   */
  readonly how: (typeof ends)[number]
  /** ISO 8601, by the host's clock. */
  readonly at: string
  /** For people: what had been switched. */
  readonly what: string
}

export const rolledBackOf = ({ rollback }: SelfFacts): RolledBack | null =>
  rollback?.phase === 'rolled-back' ? readRolledBack(rollback.text) : null

export const readRolledBack = (line: string): RolledBack => {
  const [run = '', operator = '', since = '', how = '', at = '', ...what] = line.trim().split(' ')
  return {
    run,
    operator,
    since,
    how: ends.find((end) => end === how) ?? 'rolled-back',
    at,
    what: what.join(' '),
  }
}
