import type { Finder } from './span.ts'

/** A line of PEM has 64 characters, one of `base64` 76; digests in hex have words' letters and stay. */
const runs = [/[A-Za-z0-9+/]{60,}={0,2}/g, /[A-Za-z0-9_-]{60,}={0,2}/g]

/** Long runs of base64: keys, certificates and whole files that somebody encoded. */
export const findBlobs: Finder = function* (text) {
  for (const run of runs)
    for (const { index, 0: found } of text.matchAll(run)) if (isBlob(found)) yield [index, index + found.length]
}

const longestDigest = 128

const isBlob = (run: string): boolean => {
  const pieces = run.replace(/=+$/, '').split(/[+/_-]/)
  // Paths and unit names are long too, but made of words.
  if (pieces.some((piece) => piece.length >= 6 && !isWord(piece))) return true
  return pieces.some((piece) => piece.length > (/^[0-9a-f]+$/i.test(piece) ? longestDigest : 99))
}

/** Of one case, digits or not, or in camel case. Six random characters of base64 seldom are. */
const isWord = (piece: string): boolean => /^(?:[a-z0-9]+|[A-Z0-9]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4})$/.test(piece)
