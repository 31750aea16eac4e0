/** One line of the table. */
export interface Figure {
  readonly what: string
  readonly measured: string
  readonly against: string
  readonly ratio: string
  readonly toReach: string
  /** Null: it was not measured, and never counts as reached. */
  readonly reached: boolean | null
  /** What bounds a figure that was not reached, or why it was not measured. */
  readonly why?: readonly string[]
}

const seconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`)

interface Compared {
  readonly what: string
  readonly measured: number
  readonly against: number
  readonly of: string
  readonly why?: readonly string[]
}

/** Times: measured is to be at most `limit` of what it stands against. */
export const atMost = (limit: number, { what, measured, against, of, why }: Compared): Figure =>
  judged(measured <= limit * against, why, {
    what,
    measured: seconds(measured),
    against: `${seconds(against)} (${of})`,
    ratio: `${(measured / against).toFixed(2)}×`,
    toReach: `≤ ${limit}×`,
  })

/** Times: what it stands against is to take at least `factor` times as long. */
export const faster = (factor: number, { what, measured, against, of, why }: Compared): Figure =>
  judged(against >= factor * measured, why, {
    what,
    measured: seconds(measured),
    against: `${seconds(against)} (${of})`,
    ratio: `${(against / measured).toFixed(1)}× faster`,
    toReach: `≥ ${factor}× faster`,
  })

/** A number with a limit of its own. */
export const within = (limit: number, { what, measured, unit, digits = 0, strict = false, why }: Bounded): Figure =>
  judged(strict ? measured < limit : measured <= limit, why, {
    what,
    measured: `${measured.toFixed(digits)}${unit}`,
    against: '-',
    ratio: '-',
    toReach: `${strict ? '<' : '≤'} ${limit}${unit}`,
  })

interface Bounded {
  readonly what: string
  readonly measured: number
  readonly unit: string
  readonly digits?: number
  readonly strict?: boolean
  readonly why?: readonly string[]
}

export const notMeasured = (what: string, toReach: string, why: string): Figure => ({
  what,
  measured: 'not measured',
  against: '-',
  ratio: '-',
  toReach,
  reached: null,
  why: [why],
})

const judged = (
  reached: boolean,
  why: readonly string[] | undefined,
  figure: Omit<Figure, 'reached' | 'why'>,
): Figure => ({
  ...figure,
  reached,
  ...(!reached && why !== undefined && { why }),
})
