/** One line of an ssh_config, taken apart. */
export interface ConfigLine {
  /** In lower case: ssh makes no difference. */
  readonly keyword: string
  readonly args: readonly string[]
}

/** Commands: everything up to the end of the line, comment signs and quotes included. */
const wholeLine = new Set(['proxycommand', 'localcommand', 'remotecommand', 'knownhostscommand'])

/** Null: a blank line or a comment. What cannot be read is left to ssh to complain of. */
export const parseConfigLine = (text: string): ConfigLine | null => {
  const [, keyword, rest = ''] = /^\s*"?([A-Za-z0-9]+)"?(?:\s*=\s*|\s+|$)(.*?)\s*$/.exec(text) ?? []
  if (keyword === undefined) return null
  const name = keyword.toLowerCase()
  return { keyword: name, args: wholeLine.has(name) ? [rest].filter(Boolean) : splitWords(rest) }
}

/** Words as ssh splits them: quotes of both kinds, a backslash before a quote, and a comment that begins a word. */
const splitWords = (text: string): string[] => {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    const next = text.charAt(at + 1)
    if (char === '\\' && (next === '"' || next === "'" || next === '\\' || (quote === undefined && next === ' '))) {
      word = (word ?? '') + next
      at += 1
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === '#' && word === undefined) {
      break
    } else {
      word = (word ?? '') + char
    }
  }
  if (word !== undefined) words.push(word)
  return words
}
