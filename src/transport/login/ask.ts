/** What only a person can answer. */
export interface Question {
  readonly text: string
  /** Lines to be read first. */
  readonly above?: readonly string[]
  /** What is typed is not shown. */
  readonly isHidden: boolean
  /** Nobody wants to know any more. */
  readonly signal?: AbortSignal
}

/** Null: there is nobody to ask. Rejects as `cancelled` where the person would not answer. */
export type Ask = (question: Question) => Promise<string | null>
