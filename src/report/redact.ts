import { isEventField, isEventWord } from './event-fields.ts'
import { secretForms, shortestSecret } from './secret-forms.ts'

export type Redactor = <T>(value: T) => T

const mask = '[secret]'

/**
 * Takes every secret, in every form it is known to come back in, out of all strings of a value. `onTooShort` hears how
 * many secrets are too short to be looked for.
 */
export const createRedactor = (secrets: Iterable<string>, onTooShort: (count: number) => void): Redactor => {
  const all = [...new Set(secrets)]
  const usable = all.filter((secret) => secret.trim().length >= shortestSecret)
  if (usable.length < all.length) onTooShort(all.length - usable.length)
  const forms = [...new Set(usable.flatMap(secretForms))].sort((a, b) => b.length - a.length)
  if (forms.length === 0) return (value) => value
  // Longest first: a regular expression takes the first alternative that fits.
  const pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'g')
  const hide = (text: string): string => text.replace(pattern, mask)

  const walk = (value: unknown, key?: string): unknown => {
    if (typeof value === 'string') return isEventWord(key, value) ? value : hide(value)
    if (Array.isArray(value)) return value.map((each) => walk(each, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [isEventField(name) ? name : hide(name), walk(each, name)]),
    )
  }
  return <T>(value: T) => walk(value) as T
}
