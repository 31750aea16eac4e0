const url = /\b(https?:\/\/)([^\s"<>]+)/gi
/** Also one with a slash in the password, which a colon tells from a port. */
const user = /^(?:[^/?#]*@|[^/?#@:]*:(?!\d{0,5}(?:[/?#]|$))[^@]*@)/
const rest = /([?#]).+$/s

/** A text as it may be shown: what follows a `?` or `#` in an URL of it may be a signature, what stands before its @ a password. */
export const withoutUrlSecrets = (text: string): string =>
  text.replace(
    url,
    (_, scheme: string, place: string) => scheme + place.replace(user, '[left out]@').replace(rest, '$1[left out]'),
  )

/** The same for all texts of a value. */
export const withoutUrlSecretsIn = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutUrlSecrets(value)
  if (Array.isArray(value)) return value.map(withoutUrlSecretsIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [withoutUrlSecrets(key), withoutUrlSecretsIn(inner)]),
  )
}
