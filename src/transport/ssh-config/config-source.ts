/** Which files say how hosts are reached. */
export type SshConfigSource =
  /** `-F none`. */
  | { readonly kind: 'none' }
  /** `-F FILE`: this file alone, as with ssh. */
  | { readonly kind: 'file'; readonly path: string }
  /** The user's file, then the system's. */
  | { readonly kind: 'usual' }

export interface ConfigFile {
  readonly path: string
  /** Its relative includes are looked up in ~/.ssh, those of the system's file in /etc/ssh. */
  readonly isUsers: boolean
}

const systemConfig = '/etc/ssh/ssh_config'

/** The files in the order in which ssh reads them. `home` is that of the account, where ssh looks. */
export const filesOf = (source: SshConfigSource, home: string): readonly ConfigFile[] => {
  if (source.kind === 'none') return []
  if (source.kind === 'file') return [{ path: source.path, isUsers: true }]
  return [
    { path: `${home}/.ssh/config`, isUsers: true },
    { path: systemConfig, isUsers: false },
  ]
}

/** The option that makes ssh read the same files. */
export const fileArguments = (source: SshConfigSource): readonly string[] =>
  source.kind === 'usual' ? [] : ['-F', source.kind === 'none' ? 'none' : source.path]
