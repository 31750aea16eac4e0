import type { VarValue } from '../inventory/host.ts'
import type { Problem } from '../inventory/names.ts'
import { quoted } from '../inventory/names.ts'

/** `${name}` or `${name.key.0}`. */
export interface Reference {
  /** What stands between the braces. */
  readonly text: string
  readonly name: string
  readonly path: readonly string[]
}

export type TextPart = string | Reference

const referenceText = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/

/** Literal text and references in turn. `$${` is a literal `${`, and a dollar alone is a dollar. */
export const parseText = (text: string): { parts: readonly TextPart[] } | { problem: Problem } => {
  const parts: TextPart[] = []
  let literal = ''
  let done = 0
  for (let dollar = text.indexOf('${'); dollar !== -1; dollar = text.indexOf('${', done)) {
    if (dollar > done && text[dollar - 1] === '$') {
      literal += `${text.slice(done, dollar - 1)}\${`
      done = dollar + 2
      continue
    }
    const end = text.indexOf('}', dollar)
    const inside = end === -1 ? text.slice(dollar + 2) : text.slice(dollar + 2, end)
    if (end === -1 || !referenceText.test(inside)) return { problem: noReference(inside, end === -1) }
    literal += text.slice(done, dollar)
    if (literal !== '') parts.push(literal)
    literal = ''
    const [name = '', ...path] = inside.split('.')
    parts.push({ text: inside, name, path })
    done = end + 1
  }
  literal += text.slice(done)
  if (literal !== '') parts.push(literal)
  return { parts }
}

const noReference = (inside: string, open: boolean): Problem => ({
  message: open ? `\${ is not closed: ${quoted(inside)}.` : `${quoted(inside)} in \${ } is not the name of a variable.`,
  remedy: `Write \${name} or \${name.key} without blanks, or $\${ for a literal \${.`,
})

/** Whether there is anything to put in, or to unescape. */
export const mayRefer = (text: string): boolean => text.includes('${')

/** Whether a variable stands anywhere in a value; a text that cannot be read counts as one. */
export const holdsReference = (value: VarValue): boolean => {
  if (typeof value === 'string') {
    if (!mayRefer(value)) return false
    const read = parseText(value)
    return 'problem' in read || read.parts.some((part) => typeof part !== 'string')
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsReference)
}

/** The text that stands for `text` itself. */
export const escapeReferences = (text: string): string => text.replaceAll('${', () => '$${')

/** A value that no variable stands in, as it will arrive. */
export const unescaped = (value: VarValue): VarValue => {
  if (typeof value === 'string') {
    const read = parseText(value)
    return 'problem' in read ? value : read.parts.join('')
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(unescaped)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unescaped(inner)]))
}
