import { findBlobs } from './blobs.ts'
import { findNamedValues } from './named-values.ts'
import { findPrivateKeys } from './private-keys.ts'
import { findShapes } from './shapes.ts'
import { findShortNames } from './short-names.ts'
import type { Span } from './span.ts'

export interface Scrubbed {
  readonly text: string
  /** How many places were hidden. */
  readonly hidden: number
}

const finders = [findPrivateKeys, findShapes, findNamedValues, findShortNames, findBlobs]

const mask = '[redacted]'

/**
 * Takes out of a text what looks like a secret or stands by a name of one. It cannot know a secret that has neither:
 * docs/operations.md says which.
 */
export const scrub = (text: string): Scrubbed => {
  const spans = joined(finders.flatMap((find) => [...find(text)]))
  const kept: string[] = []
  let done = 0
  for (const [from, to] of spans) {
    kept.push(text.slice(done, from))
    done = to
  }
  return { text: [...kept, text.slice(done)].join(mask), hidden: spans.length }
}

/** In order, each apart from the next. */
const joined = (spans: readonly Span[]): readonly Span[] => {
  const apart: Span[] = []
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    const last = apart.at(-1)
    if (last === undefined || from > last[1]) apart.push([from, to])
    else if (to > last[1]) apart[apart.length - 1] = [last[0], to]
  }
  return apart
}
