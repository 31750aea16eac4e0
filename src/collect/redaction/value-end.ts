/** Brackets that are not closed within so much are none. */
const longest = 16_384
/** How far a value is followed that stands within another one: its names would make the search a slow one otherwise. */
const longestWithin = 2048
/** How far before a name its line is looked at. */
const widest = 256

const opening = /(\\{0,8})(["'`])/y
const block = /(?:[|>][-+0-9]{0,2}(?:[ \t]+#[^\n]*|[ \t]*))?\n/y
const plain = /(?:\\.|[^\s"\\])+/y
const plainWithin = /(?:\\.|[^\s"\\]){1,2048}/y
/** It has the form of a list. */
const masked = /\[(?:secret|redacted)\]/y

/** Where a value ends that begins at `at`; `nameAt` is within its name. In doubt it is longer, never shorter. */
export const valueEnd = (
  text: string,
  nameAt: number,
  at: number,
  { isWithin }: { readonly isWithin: boolean },
): number => {
  opening.lastIndex = at
  const quoted = opening.exec(text)
  if (quoted !== null) return quoteEnd(text, opening.lastIndex, quoted[1]?.length ?? 0, quoted[2] ?? '')
  block.lastIndex = at
  if (block.test(text)) return blockEnd(text, lineBefore(text, nameAt), block.lastIndex)
  masked.lastIndex = at
  if (text[at] === '{' || (text[at] === '[' && !masked.test(text)))
    return bracketEnd(text, at, isWithin ? longestWithin : longest) ?? (isWithin ? at : lineEnd(text, at))
  // In a configuration the value goes to the end of its line, blanks and all.
  if (isOwnLine(text, nameAt)) return lineEnd(text, at)
  const word = isWithin ? plainWithin : plain
  word.lastIndex = at
  return word.test(text) ? word.lastIndex : at
}

/** Whether a name begins its line, as in a configuration. */
export const isOwnLine = (text: string, nameAt: number): boolean =>
  /^[\s-]*(?:export[ \t]+|Environment=)?["']?[\w.-]*$/.test(lineBefore(text, nameAt))

/** The same quote with no more backslashes before it than the first one had. No quoted text of ours spans lines. */
const quoteEnd = (text: string, from: number, slashes: number, quote: string): number => {
  let run = 0
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\n') return at
    if (text[at] === '\\') run += 1
    else if (text[at] === quote && run <= slashes) return at + 1
    else run = 0
  }
  return text.length
}

const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** Null: it is not closed. */
const bracketEnd = (text: string, from: number, most: number): number | null => {
  const open: string[] = []
  const limit = Math.min(text.length, from + most)
  let isQuoted = false
  for (let at = from; at < limit; at += 1) {
    const character = text[at] ?? ''
    const close = closing[character]
    if (character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && close !== undefined) open.push(close)
    else if (!isQuoted && character === open.at(-1)) {
      open.pop()
      if (open.length === 0) return at + 1
    }
  }
  return null
}

/** The end of the lines below that are indented further than the one with the name, and of empty ones among them. */
const blockEnd = (text: string, before: string, from: number): number => {
  const indent = /^[ \t-]*/.exec(before)?.[0].length ?? 0
  let end = from
  let last = from - 1
  while (end < text.length) {
    const next = lineEnd(text, end)
    const line = text.slice(end, next)
    const isBlank = line.trim() === ''
    if (!isBlank && (/^[ \t]*/.exec(line)?.[0].length ?? 0) <= indent) break
    if (!isBlank) last = next
    end = next + 1
  }
  return last
}

/** What stands in the line before the name; of a very long one the end, which begins with no blank. */
const lineBefore = (text: string, nameAt: number): string => {
  const before = text.slice(Math.max(0, nameAt - widest), nameAt)
  const newline = before.lastIndexOf('\n')
  return newline < 0 && nameAt > widest ? `…${before}` : before.slice(newline + 1)
}

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}
