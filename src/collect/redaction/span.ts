/** A stretch of a text that is to be hidden. */
export type Span = readonly [from: number, to: number]

/**
 * Finds one kind of secret. Each looks at the text as it came, and what all of them found is hidden at once: what one
 * hides can then take nothing from another's sight.
 */
export type Finder = (text: string) => Iterable<Span>
