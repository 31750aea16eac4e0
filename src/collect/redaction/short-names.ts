import { assigned, givenAt, isHarmless, matchEnd } from './assignment.ts'
import { type ValueStart, valuesBy } from './named-values.ts'
import type { Finder } from './span.ts'
import { isOwnLine } from './value-end.ts'

/** At the beginning of a name, after `_`, `-`, `.` or an escape, or where camel case begins a word. */
const begin = '(?<![A-Za-z])|(?<=%[0-9A-Fa-f]{2}|\\\\[nrt])'
const camel = `${begin}|(?<=[a-z0-9])`
const words = new RegExp(
  [
    `(?:${begin})(?:sig|auth|credentials?|SIG|AUTH|CREDENTIALS?)`,
    `(?:${camel})(?:Sig|Auth|(?<!Load|Import)Credentials?)`,
    // PGPASS, too, but not bypass.
    '(?<!by|By|com|Com|tres|Tres|sur|Sur)(?:pass|Pass|PASS)',
    '(?:pwd|Pwd|PWD)',
  ]
    .map((word) => `${word}(?![A-Za-z])`)
    .join('|'),
  'g',
)
const restOfName = /(?:[_.-]?(?:base64|b64|value|data|\d{1,4}))?/iy

/**
 * Values of secrets with a short name. It is a part of ordinary words as well, so it has to be a whole part of the name
 * and its last one, and what a log says after it as prose stays.
 */
export const findShortNames: Finder = (text) => valuesBy(words, valueStart, text)

const valueStart: ValueStart = (text, wordAt, wordEnd) => {
  const nameEnd = matchEnd(restOfName, text, wordEnd) ?? wordEnd
  const word = text.slice(wordAt, wordEnd).toLowerCase()
  const at = matchEnd(assigned, text, nameEnd) ?? (word === 'auth' ? null : givenAt(text, wordAt, nameEnd))
  if (at === null || isHarmless(text, at) || isOrdinary(word, text, { wordAt, nameEnd, at })) return null
  return at
}

const ofLettersAlone = /^[A-Z]?[a-z]{1,40}[,;.:)]?(?=\s|$)/

const isOrdinary = (
  word: string,
  text: string,
  { wordAt, nameEnd, at }: { readonly wordAt: number; readonly nameEnd: number; readonly at: number },
): boolean => {
  const value = text.slice(at, at + 64)
  // The number of a signal.
  if (word === 'sig' && /^\d{1,3}[,;)]?(?=\s|$)/.test(value)) return true
  // The working directory, as sudo logs it.
  if (
    word === 'pwd' &&
    value.startsWith('/') &&
    /(?:^|[^\w-])(?:OLD)?$/.test(text.slice(Math.max(0, wordAt - 4), wordAt))
  )
    return true
  if (!ofLettersAlone.test(value)) return false
  // `auth=arc` is a way, not a secret.
  return word === 'auth' || (/:[ \t]+$/.test(text.slice(nameEnd, at)) && !isOwnLine(text, wordAt))
}
