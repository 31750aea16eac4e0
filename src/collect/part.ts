/** One file of the bundle, and the read-only command on the host that it comes from. */
export interface Part {
  /** Its name in the bundle, below the host's. */
  readonly file: string
  /** For the index. */
  readonly about: string
  readonly argv: readonly string[]
  /** The command is ended after so long. */
  readonly seconds: number
  /** No more than this is kept of it. */
  readonly bytes: number
  /**
   * Which bytes, where there are more: `newest` is for a command that gives the newest lines first, so that the host need
   * not read the rest; they are turned round here.
   */
  readonly keep: 'first' | 'last' | 'newest'
}

/** What became of a part on the host. */
export type PartAnswer =
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly code: number }
  /** All the time there was had gone by before it. */
  | { readonly kind: 'skipped' }

/** What our own scripts end with where there is nothing to read; why stands in place of the text. */
export const nothingThere = 66
