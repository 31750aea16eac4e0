/** A file of this workstation that hosts are to have, known by its content and not by its name. */
export interface Artifact {
  /** Where it lies here. It stays as it is for as long as the run goes on. */
  readonly file: string
  /** Hex, of the whole. */
  readonly sha256: string
  readonly size: number
}
