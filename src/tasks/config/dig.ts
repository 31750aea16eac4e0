/** What lies at a dotted path of plain data, own keys only. */
export const dig = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null ? Object.getOwnPropertyDescriptor(inner, key)?.value : undefined,
      value,
    )

export const isSaid = (value: unknown, path: string): boolean => !isNothing(dig(value, path))

/** To the agent null and an empty text are the same as nothing. */
const isNothing = (value: unknown): boolean => value === undefined || value === null || value === ''

export const withoutNothings = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNothings)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (isNothing(inner) ? [] : [[key, withoutNothings(inner)]])),
  )
}
