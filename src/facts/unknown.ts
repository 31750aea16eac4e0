/**
 * A value nobody can know before a change has been made: the MainPID after a restart, the enablement of a
 * unit a package brings. Unknown is a value like any other until somebody reads it.
 */
export class Unknown {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

export type Known<T> = T | Unknown

/**
 * Thrown when a plan reads an Unknown and caught by the planner alone: the segment ends before this step.
 * Tasks read plain values and never see it (docs/decisions/0003).
 */
export class ReadsUnknown extends Error {
  readonly why: string
  constructor(what: string, unknown: Unknown) {
    super(`${what} is known only after: ${unknown.why}`)
    this.name = 'ReadsUnknown'
    this.why = unknown.why
  }
}

export const known = <T>(what: string, value: Known<T>): T => {
  if (value instanceof Unknown) throw new ReadsUnknown(what, value)
  return value
}

/** Thrown when a plan reads what the host would not show; the planner turns it into a blocked step. */
export class Unreadable extends Error {
  readonly what: string
  constructor(what: string, why: string) {
    super(`${what} cannot be read: ${why}`)
    this.name = 'Unreadable'
    this.what = what
  }
}
