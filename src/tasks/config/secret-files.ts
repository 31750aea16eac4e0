import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import { contentBytes, sha256 } from '../../changes/predict.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import { parentOf } from '../../facts/tree.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { configDirectory, credentialsDirectory } from '../agent/paths.ts'

const inDirectory = new RegExp(`^${credentialsDirectory}/[A-Za-z0-9][A-Za-z0-9._-]*$`)

export const secretFileParam = z.strictObject({
  path: z
    .string()
    .regex(inDirectory, `This is no place for a credential.\nName a file directly in ${credentialsDirectory}.`),
  content: z.custom<Secret>(
    (value) => value instanceof Secret,
    'The content of a credential must be a secret.\nWrite the variable of a secret as the whole value.',
  ),
})

export type SecretFile = z.output<typeof secretFileParam>

export const secretFilesFacts = (files: readonly SecretFile[]): Fact[] =>
  files.length === 0
    ? []
    : [
        { kind: 'path', path: credentialsDirectory },
        ...files.map(({ path }): Fact => ({ kind: 'path', path, sha256: true, secret: true })),
      ]

export interface SecretFileChanges {
  /** Directory and permissions: closed before a secret lies there, and never opened again. */
  readonly staging: readonly Change[]
  readonly writes: readonly Change[]
}

/** Never through a link: what it leads to may be anybody's (domain.md 9.6). */
export const secretFileChanges = (view: HostView, files: readonly SecretFile[]): SecretFileChanges | ErrorDetails => {
  if (files.length === 0) return { staging: [], writes: [] }
  const above = [configDirectory, credentialsDirectory].find(
    (path) => !['directory', 'absent'].includes(view.node(path).type),
  )
  if (above !== undefined) return inTheWay(above, view.node(above).type)
  const wrong = files.find(({ path }) => !['file', 'absent'].includes(view.node(path).type))
  if (wrong !== undefined) return inTheWay(wrong.path, view.node(wrong.path).type)
  const directory = view.node(credentialsDirectory)
  const closed = { path: credentialsDirectory, mode: 0o700, owner: 'root:root' } as const
  return {
    staging: [
      ...(directory.type === 'absent' ? [{ kind: 'directory', ...closed } as const] : []),
      ...(directory.type === 'directory' && !isClosed(directory, 0o700)
        ? [{ kind: 'attributes', ...closed } as const]
        : []),
      ...files.flatMap(({ path, content }): Change[] => {
        const node = view.node(path)
        const isWanted = node.type === 'file' && view.sha256(path) === sha256(contentBytes(content))
        return isWanted && !isClosed(node, 0o600) ? [{ kind: 'attributes', path, ...ofRoot }] : []
      }),
    ],
    writes: files
      .filter(({ path, content }) => view.sha256(path) !== sha256(contentBytes(content)))
      .map(({ path, content }): Change => ({ kind: 'write', path, content, ...ofRoot })),
  }
}

const ofRoot = { mode: 0o600, owner: 'root:root' } as const

const isClosed = (node: { readonly mode: number; readonly uid: number; readonly gid: number }, mode: number): boolean =>
  node.mode === mode && node.uid === 0 && node.gid === 0

const inTheWay = (path: string, type: string): ErrorDetails => ({
  code: 'path-in-the-way',
  message: `${path} is a ${type}, and a credential goes only into a real directory of root: ${parentOf(path)} was left alone.`,
  remedy: 'Look at who put it there, and move it away. No credential is ever written through a link.',
})
