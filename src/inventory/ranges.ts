import type { Problem } from './names.ts'
import { quoted } from './names.ts'

/** `node[001:100]`: literal text and ranges in turn. Most names are one text. */
type NamePart = string | Range

interface Range {
  readonly first: number
  readonly step: number
  readonly count: number
  /** Digits are padded to this; 0 stands for letters. */
  readonly width: number
}

export const hostLimit = 100_000

const rangeText = /^(\d{1,15}|[A-Za-z]):(\d{1,15}|[A-Za-z])(?::(\d{1,15}))?$/

/** Whether the text between brackets reads as a range; otherwise it may be an IPv6 address. */
export const isRange = (inside: string): boolean => rangeText.test(inside)

export const parseRanges = (name: string): { parts: NamePart[] } | { problem: Problem } => {
  const parts: NamePart[] = []
  let rest = name
  for (;;) {
    const open = rest.indexOf('[')
    if (open === -1) break
    const close = rest.indexOf(']', open)
    if (close === -1) return { problem: badRange(name, 'The bracket is not closed.') }
    const range = parseRange(rest.slice(open + 1, close))
    if (typeof range === 'string') return { problem: badRange(name, range) }
    parts.push(rest.slice(0, open), range)
    rest = rest.slice(close + 1)
  }
  parts.push(rest)
  return { parts: parts.filter((part) => part !== '') }
}

const parseRange = (inside: string): Range | string => {
  const [, from, to, by] = rangeText.exec(inside) ?? []
  if (from === undefined || to === undefined) return 'A range is two numbers or two letters with a colon between.'
  const step = by === undefined ? 1 : Number(by)
  if (step === 0) return 'The step of a range is at least 1.'
  if (/\d/.test(from) !== /\d/.test(to)) return 'A range does not mix digits and letters.'
  const digits = /\d/.test(from)
  if (!digits && isUpper(from) !== isUpper(to)) return 'A range of letters keeps to one case.'
  const padded = /^0\d/.test(from) || /^0\d/.test(to)
  if (digits && padded && from.length !== to.length) return 'Both ends of a padded range have the same width.'
  const [first, last] = digits ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)]
  if (last < first) return 'A range runs upwards.'
  const width = digits ? (padded ? from.length : 1) : 0
  return { first, step, count: Math.floor((last - first) / step) + 1, width }
}

const isUpper = (letter: string): boolean => letter >= 'A' && letter <= 'Z'

const badRange = (name: string, why: string): Problem => ({
  message: `${quoted(name)} holds a bad range. ${why}`,
  remedy: 'Write ranges as [1:9], [001:100], [a:f] or with a step as [0:10:2].',
})

/** Known before a single name is made, so that [1:999999999] costs nothing. */
export const countNames = (parts: readonly NamePart[]): number =>
  parts.reduce((product, part) => product * (typeof part === 'string' ? 1 : part.count), 1)

export const expandNames = (parts: readonly NamePart[]): string[] =>
  parts.reduce<string[]>(
    (names, part) => {
      const texts = typeof part === 'string' ? [part] : rangeTexts(part)
      return names.flatMap((name) => texts.map((text) => name + text))
    },
    [''],
  )

const rangeTexts = ({ first, step, count, width }: Range): string[] =>
  Array.from({ length: count }, (_, index) => {
    const value = first + index * step
    return width === 0 ? String.fromCharCode(value) : String(value).padStart(width, '0')
  })
