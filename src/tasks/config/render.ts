import { Secret } from '../../secret.ts'

/** Plain data out of a playbook's variables, with every secret as the text that it is: never to be shown. */
export const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]))
}

/** `over` on top of `base`: mappings are joined, everything else is replaced, as bootstrap.sh does it. */
export const merged = (base: unknown, over: unknown): unknown => {
  if (!isMapping(base) || !isMapping(over)) return over
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])]
  return Object.fromEntries(
    keys.map((key) => [
      key,
      !Object.hasOwn(over, key) ? base[key] : Object.hasOwn(base, key) ? merged(base[key], over[key]) : over[key],
    ]),
  )
}

export const serialised = (config: unknown): Secret => new Secret(`${JSON.stringify(config, null, 2)}\n`)

/** Whether two texts are the same configuration: the order of keys and blanks are of no account. */
export const isSameConfig = (one: string, other: string): boolean => {
  if (one === other) return true
  try {
    return JSON.stringify(sorted(JSON.parse(one))) === JSON.stringify(sorted(JSON.parse(other)))
  } catch {
    return false
  }
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isMapping(value)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sorted(inner)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret)
