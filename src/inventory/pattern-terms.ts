import { isIPv6 } from 'node:net'

export interface Term {
  /** What the term does to the selection. */
  readonly role: 'add' | 'keep' | 'drop'
  /** Without `&` or `!`; never empty. */
  readonly text: string
}

/**
 * The terms of a pattern, which commas and colons separate. Neither separates within brackets (in a regular expression
 * that holds for all kinds of brackets), within a host name such as an IPv6 address, or, for a colon, in a file's path.
 */
export const patternTerms = (pattern: string, isHost: (name: string) => boolean): Term[] => {
  const terms: Term[] = []
  let position = 0
  while (position < pattern.length) {
    const [prefix = ''] = /^[\s,:]*([&!]\s*)?/.exec(pattern.slice(position, position + prefixLength)) ?? []
    const start = position + prefix.length
    const length = hostLength(pattern, start, isHost) ?? termLength(pattern, start)
    const text = pattern.slice(start, start + length).trim()
    const mark = prefix.trim().at(-1)
    if (text !== '') terms.push({ role: mark === '&' ? 'keep' : mark === '!' ? 'drop' : 'add', text })
    // A term may be empty, but the scan has to go on.
    position = start + length + (length === 0 && prefix === '' ? 1 : 0)
  }
  return terms
}

const prefixLength = 100
/** An IPv6 address with a zone is shorter; trying longer names would make hostile patterns slow. */
const colonNameLength = 100

/** The length of a host name, or of what can only be an IPv6 address, that holds colons and ends where a term may end. */
const hostLength = (pattern: string, start: number, isHost: (name: string) => boolean): number | undefined => {
  const [run = ''] = /^[\w.:%-]+/.exec(pattern.slice(start, start + colonNameLength)) ?? []
  if (!run.includes(':')) return undefined
  const next = pattern.charAt(start + run.length)
  let end = /^[,\s]?$/.test(next) ? run.length : run.lastIndexOf(':')
  for (; end > 0; end = run.lastIndexOf(':', end - 1)) {
    const name = run.slice(0, end)
    if (isHost(name) || isIPv6(name)) return end
  }
  return undefined
}

const termLength = (pattern: string, start: number): number => {
  const first = pattern.charAt(start)
  const isRegex = first === '~'
  const separators = first === '@' ? ',' : ',:'
  const opening = isRegex ? '[({' : '['
  const closing = isRegex ? '])}' : ']'
  let depth = 0
  for (let index = start; index < pattern.length; index++) {
    const character = pattern.charAt(index)
    if (isRegex && character === '\\') index++
    else if (opening.includes(character)) depth++
    else if (closing.includes(character)) depth = Math.max(0, depth - 1)
    else if (depth === 0 && separators.includes(character)) return index - start
  }
  return pattern.length - start
}
