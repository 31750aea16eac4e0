import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import { contentBytes, sha256 } from '../../changes/predict.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { Secret } from '../../secret.ts'
import { configDirectory, credentialsDirectory } from '../agent/paths.ts'
import { isOwnedSo } from '../general/owner.ts'
import { inTheWay } from '../general/refusals.ts'
import type { FileChanges } from './config-file.ts'

const inDirectory = new RegExp(`^${credentialsDirectory}/[A-Za-z0-9][A-Za-z0-9._-]*$`)

const secretFileParam = z.strictObject({
  path: z
    .string()
    .regex(inDirectory, `This is no place for a credential.\nName a file directly in ${credentialsDirectory}.`),
  content: z.custom<Secret>(
    (value) => value instanceof Secret,
    'The content of a credential must be a secret.\nWrite the variable of a secret as the whole value.',
  ),
})

export const secretFilesParam = z
  .array(secretFileParam)
  .default([])
  .describe(`Files in ${credentialsDirectory} that config.json names: a path, and a secret as content`)

type SecretFile = z.output<typeof secretFileParam>

export const secretFilesFacts = (files: readonly SecretFile[]): Fact[] =>
  files.length === 0
    ? []
    : [
        { kind: 'path', path: configDirectory },
        { kind: 'path', path: credentialsDirectory },
        ...files.map(({ path }): Fact => ({ kind: 'path', path, sha256: true, secret: true })),
      ]

const closed = { mode: 0o600, owner: 'root:root' } as const
const directory = { path: credentialsDirectory, mode: 0o700, owner: 'root:root' } as const

/** Never through a link: what it leads to may be anybody's (domain.md 9.6). The directory is closed before a secret lies there. */
export const secretFileChanges = (view: HostView, files: readonly SecretFile[]): FileChanges | ErrorDetails => {
  if (files.length === 0) return { staging: [], writes: [] }
  const refusal = [
    ...[configDirectory, credentialsDirectory].map((path) => unlessIs(view, path, 'directory')),
    ...files.map(({ path }) => unlessIs(view, path, 'file')),
  ].find((error) => error !== null)
  if (refusal !== undefined) return refusal
  const isWanted = ({ path, content }: SecretFile): boolean => view.sha256(path) === sha256(contentBytes(content))
  return {
    staging: [
      ...closedDirectory(view),
      ...files.filter(isWanted).flatMap(({ path }): Change[] => {
        const node = view.node(path)
        return node.type === 'file' && isOwnedSo(node, closed) ? [] : [{ kind: 'attributes', path, ...closed }]
      }),
    ],
    writes: files
      .filter((file) => !isWanted(file))
      .map(({ path, content }): Change => ({ kind: 'write', path, content, ...closed })),
  }
}

const unlessIs = (view: HostView, path: string, wanted: 'file' | 'directory'): ErrorDetails | null => {
  const node = view.node(path)
  return node.type === 'absent' || node.type === wanted ? null : inTheWay(path, node, `a ${wanted}`)
}

const closedDirectory = (view: HostView): Change[] => {
  const node = view.node(credentialsDirectory)
  if (node.type !== 'directory') return [{ kind: 'directory', ...directory }]
  return isOwnedSo(node, directory) ? [] : [{ kind: 'attributes', ...directory }]
}

export interface SeenSecret {
  readonly type: 'absent' | 'file' | 'symlink' | 'directory' | 'other' | 'unreadable'
  readonly mode?: number
  readonly size?: number
}

/** One that somebody else put there is judged as the agent judges it, and never touched (domain.md 9.3, 11.25). */
export const secretFault = (path: string, { type, mode = 0o777, size = 0 }: SeenSecret): ErrorDetails | null => {
  const why =
    type === 'absent'
      ? 'is not there'
      : type === 'symlink'
        ? 'is a link'
        : type !== 'file'
          ? 'is no regular file'
          : (mode & 0o077) !== 0
            ? 'can be got at by others than its owner'
            : size === 0
              ? 'is empty'
              : null
  if (why === null) return null
  return {
    code: 'config-invalid',
    message: `${path}, the file with the secret of the service principal, ${why}: the agent would not take it.`,
    remedy: `Put a regular file there with mode 0600; or name a file in ${credentialsDirectory} and give it to drover (secret_files).`,
  }
}
