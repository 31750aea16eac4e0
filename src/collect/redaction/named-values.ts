import type { Finder } from './span.ts'
import { valueEnd } from './value-end.ts'

/** Parts of a name whose value is a secret, in configuration, environments, logs and command lines. */
const words =
  /secret|passw|passphrase|token|kubeconfigdata|cacertdata|(?:key|certificate|certificate-authority)-data|(?:private|api|access|account|shared|signing|encryption)[_-]?key|sharedaccess|signature|connectionstring|cookie|setcredential/gi

/** A name that ends so has a place as its value, not the secret itself; or it is a unit, of which a log says something. */
const isPlace = /(?:file|path|dir|directory|\.(?:service|socket|target|timer|mount|slice|scope))$/i

const restOfName = /[\w.-]{0,64}/y
const assigned = /(?:\\{0,8}["'])?[ \t]{0,32}(?:=>|:=|[:=]|%3[ad])[ \t]*/iy
const given = /[ \t]+/y
const harmless = /(?:true|false|null|none|nil|yes|no|<nil>|""|''|\[secret\]|\[redacted\])(?=[\s,}\])"]|$)/iy

/** Values of what is called a secret: `"token": "..."`, `password=...`, `--token ...`, `clientSecret: |` with its lines. */
export const findNamedValues: Finder = function* (text) {
  let done = 0
  for (const { index, 0: word } of text.matchAll(words)) {
    const at = valueStart(text, index, index + word.length)
    if (at === null) continue
    const end = valueEnd(text, index, at, { isWithin: at < done })
    if (end > at) yield [at, end]
    done = Math.max(done, end)
  }
}

/** Where the value begins of a name that holds the word; null: it is no name of a value, or of a harmless one. */
const valueStart = (text: string, wordAt: number, wordEnd: number): number | null => {
  const nameEnd = matchEnd(restOfName, text, wordEnd) ?? wordEnd
  if (isPlace.test(text.slice(wordAt, nameEnd))) return null
  const isOption = /--[\w-]*$/.test(text.slice(Math.max(0, wordAt - 64), wordAt))
  const at = matchEnd(assigned, text, nameEnd) ?? (isOption ? matchEnd(given, text, nameEnd) : null)
  if (at === null) return null
  return matchEnd(harmless, text, at) === null ? at : null
}

const matchEnd = (pattern: RegExp, text: string, at: number): number | null => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}
