/**
 * What undoes one change of a guarded group. Plain data, run by the host itself in the reverse order of the changes. Each
 * does nothing where its change was never made, and may be run any number of times.
 */
export type Undo =
  /** `ours` is what the change makes of it: anything else there now is somebody else's, and the undo stops (`superseded`). */
  | { readonly kind: 'link'; readonly path: string; readonly was: string | null; readonly ours: string | null }
  /** The host keeps the file as it was, beside the armed rollback; null: there was none. */
  | {
      readonly kind: 'file'
      readonly path: string
      readonly wasSha256: string | null
      readonly oursSha256: string | null
      /** What the group starts writes it anew by itself, as an agent does with its units: then whatever is there is ours. */
      readonly rewritten?: true
    }
  | { readonly kind: 'daemon-reload' }
  /**
   * `up`: started again, and stays up. `unsteady`, between states or in a crash loop: started again, which is all that can
   * be asked of it. `failed`: started as a boot would. `down`: left stopped. `exe`: what it runs, where that is known.
   */
  | {
      readonly kind: 'unit'
      readonly unit: string
      readonly was: 'up' | 'unsteady' | 'failed' | 'down'
      readonly exe?: string
    }
