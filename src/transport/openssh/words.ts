import type { Host } from '../../inventory/host.ts'

/**
 * What comes from an inventory and goes to ssh. ssh takes a word that begins with `-` for an option, hands names on to
 * the shell where a ProxyCommand or `Match exec` of the user's configuration asks for them, and expands `%` and `${}`.
 */

// Quotes, blanks, and what a shell treats specially.
const unsafeInName = /[\s\p{C}'"`$\\;&<>|(){}*?!#,]/u
// ssh's own quoting cannot carry these within an option.
const unsafeInPath = /["\\\p{Cc}]|\$\{/u

export const isSafeAddress = (address: string): boolean =>
  address !== '' && !address.startsWith('-') && !unsafeInName.test(address)

/** Also names of Windows domains (`CORP\name`), which is why ssh lets a backslash stand within. */
export const isSafeUser = (user: string): boolean =>
  user !== '' && !user.startsWith('-') && !user.endsWith('\\') && !unsafeInName.test(user.replaceAll('\\', ''))

/** Versions of ssh differ in whether they expand tokens in it. */
const isSafeAlias = (alias: string): boolean => isSafeAddress(alias) && !alias.includes('%')

export const isSafePath = (path: string): boolean => path !== '' && !unsafeInPath.test(path)

/** A path as the value of an option that takes several, and in which ssh expands tokens. */
export const quotePath = (path: string): string => {
  if (!isSafePath(path)) throw new Error('a path that ssh cannot be given; prepare refuses it')
  return `"${path.replaceAll('%', '%%')}"`
}

export interface UnsafeWord {
  readonly field: string
  readonly value: string
}

/** What of this host cannot be handed to ssh. */
export const unsafeWords = (host: Host): readonly UnsafeWord[] => {
  const agent = host.identityAgent === undefined ? [] : [host.identityAgent]
  const names: [field: string, value: string | undefined, isSafe: (value: string) => boolean][] = [
    ['address', host.address, isSafeAddress],
    ['address', host.sshOptions?.destination, isSafeAddress],
    ['user', host.user, isSafeUser],
    ['host_key_alias', host.hostKeyAlias, isSafeAlias],
  ]
  const paths = [...host.identityFiles, ...(host.certificateFiles ?? []), ...host.knownHostsFiles, ...agent].map(
    (path): [string, string, (value: string) => boolean] => ['file', path, isSafePath],
  )
  return [...names, ...paths].flatMap(([field, value, isSafe]) =>
    value === undefined || isSafe(value) ? [] : [{ field, value }],
  )
}
