import { assigned, givenAt, isHarmless, matchEnd } from './assignment.ts'
import type { Finder, Span } from './span.ts'
import { valueEnd } from './value-end.ts'

/** Parts of a name whose value is a secret, in configuration, environments, logs and command lines. */
const words =
  /secret|passw|passphrase|token|kubeconfigdata|cacertdata|(?:key|certificate|certificate-authority)-data|(?:private|api|access|account|shared|signing|encryption|certificate)[_-]?key|sharedaccess|signature|connectionstring|cookie|setcredential/gi

/** A name that ends so has a place as its value, not the secret itself; or it is a unit, of which a log says something. */
const isPlace = /(?:file|path|dir|directory|\.(?:service|socket|target|timer|mount|slice|scope))$/i

const restOfName = /[\w.-]{0,64}/y

/** Values of what is called a secret: `"token": "..."`, `password=...`, `--token ...`, `clientSecret: |` with its lines. */
export const findNamedValues: Finder = (text) => valuesBy(words, valueStart, text)

/** Where the value begins of a name that holds the word; null: it is no name of a value, or of a harmless one. */
export type ValueStart = (text: string, wordAt: number, wordEnd: number) => number | null

export function* valuesBy(words: RegExp, startOf: ValueStart, text: string): Generator<Span> {
  let done = 0
  for (const { index, 0: word } of text.matchAll(words)) {
    const at = startOf(text, index, index + word.length)
    if (at === null) continue
    const end = valueEnd(text, index, at, { isWithin: at < done })
    if (end > at) yield [at, end]
    done = Math.max(done, end)
  }
}

const valueStart: ValueStart = (text, wordAt, wordEnd) => {
  const nameEnd = matchEnd(restOfName, text, wordEnd) ?? wordEnd
  if (isPlace.test(text.slice(wordAt, nameEnd))) return null
  const at = matchEnd(assigned, text, nameEnd) ?? givenAt(text, wordAt, nameEnd)
  return at === null || isHarmless(text, at) ? null : at
}
