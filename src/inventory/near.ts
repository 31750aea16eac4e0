import { distance } from 'fastest-levenshtein'

/** The candidate that `text` is probably a slip of, if one is near enough to be worth saying. */
export const nearName = (text: string, candidates: Iterable<string>): string | undefined => {
  const wanted = text.slice(0, 100).toLowerCase()
  // Two, because two letters changed round count as two; but never a whole short name.
  let limit = Math.min(wanted.length - 1, Math.max(2, Math.floor(wanted.length / 3))) + 1
  let best: string | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= limit) continue
    // Of equally near names the one as long: two letters changed round are the commonest slip.
    const found = distance(wanted, candidate.toLowerCase()) + Math.abs(candidate.length - wanted.length) / 1000
    if (found >= limit) continue
    limit = found
    best = candidate
  }
  return best
}

/** Like `nearName`, but gives up after some answers: a thousand unknown names must not cost a thousand full searches. */
export const nearNames = (candidates: readonly string[], answers = 20): ((text: string) => string | undefined) => {
  let left = answers
  return (text) => (left-- > 0 ? nearName(text, candidates) : undefined)
}

export const didYouMean = (near: string | undefined, otherwise: string): string =>
  near === undefined ? otherwise : `Did you mean ${near}?`
