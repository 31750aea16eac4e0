import type { Change } from '../../changes/change.ts'
import { contentBytes, sha256 } from '../../changes/predict.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { credentialsDirectory } from '../agent/paths.ts'
import { isOwnedSo } from '../general/owner.ts'
import { inTheWay } from '../general/refusals.ts'

/** Where drover keeps the secret of a service principal, or its certificate with the key (domain.md 1.3). */
const secretNames = ['sp-client-secret', 'sp-client-certificate', 'sp-client-certificate.pfx'] as const
export const secretPaths: readonly string[] = secretNames.map((name) => `${credentialsDirectory}/${name}`)

export const secretFileFacts = (path: string): Fact[] => [
  { kind: 'path', path: credentialsDirectory },
  { kind: 'path', path, sha256: true, secret: true },
]

/** The secret that drover is given, in a directory that is root's alone. */
export const placeSecret = (view: HostView, path: string, content: string | Secret): Change[] | ErrorDetails => {
  const directory = view.node(credentialsDirectory)
  if (directory.type !== 'absent' && directory.type !== 'directory')
    return inTheWay(credentialsDirectory, directory, 'a directory')
  const node = view.node(path)
  if (node.type !== 'absent' && node.type !== 'file') return inTheWay(path, node, 'a file')
  const wanted = { mode: 0o600, owner: 'root:root' }
  const isThere = node.type === 'file' && view.sha256(path) === sha256(contentBytes(content))
  return [
    ...placeDirectory(view),
    ...(isThere
      ? isOwnedSo(node, wanted)
        ? []
        : [{ kind: 'attributes', path, ...wanted } as const]
      : [
          {
            kind: 'write',
            path,
            content: content instanceof Secret ? content : new Secret(content),
            ...wanted,
          } as const,
        ]),
  ]
}

const placeDirectory = (view: HostView): Change[] => {
  const node = view.node(credentialsDirectory)
  const wanted = { path: credentialsDirectory, mode: 0o700, owner: 'root:root' }
  if (node.type !== 'directory') return [{ kind: 'directory', ...wanted }]
  return isOwnedSo(node, wanted) ? [] : [{ kind: 'attributes', ...wanted }]
}

/** One that somebody else put there is judged as the agent judges it, and never touched (domain.md 9.3, 11.25). */
export const secretRefusal = (view: HostView, path: string): ErrorDetails | null => {
  const node = view.node(path)
  const why =
    node.type === 'absent'
      ? 'is not there'
      : node.type === 'symlink'
        ? 'is a link'
        : node.type !== 'file'
          ? 'is no regular file'
          : (node.mode & 0o077) !== 0
            ? 'can be got at by others than its owner'
            : node.size === 0
              ? 'is empty'
              : null
  if (why === null) return null
  return {
    code: 'config-invalid',
    message: `${path}, the file with the secret of the service principal, ${why}: the agent would not take it.`,
    remedy: `Put a regular file there with mode 0600; or give drover the secret (client_secret) and name one of ${secretPaths.join(', ')}.`,
  }
}
