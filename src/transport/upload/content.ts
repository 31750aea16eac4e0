/** A file of this workstation, which stays as it is while it is sent. */
export interface Content {
  readonly file: string
  /** Hex, of the whole. */
  readonly sha256: string
  readonly size: number
}

/** What is to be brought to a host. */
export interface Upload {
  /** Where it is going to lie in the end; it is staged near there. */
  readonly path: string
  readonly content: Content
  /** It is to be run there. */
  readonly isProgram: boolean
  /** A file of the host that is much like it. */
  readonly base?: { readonly path: string; readonly sha256: string }
}
