import type { SecretReference } from '../secret.ts'
import type { Problem } from './names.ts'

const unclear: Problem = {
  message: 'This secret does not say where it comes from.',
  remedy:
    'Write !secret env:NAME, !secret file:PATH or !secret command:PROGRAM ARGUMENT, or in long form { secret: { env: NAME } }.',
}

type Parsed = { reference: SecretReference } | { problem: Problem }

/** A mapping with the one key `secret` is never plain data, so that a slip in it cannot pass for a value. */
export const isSecretReference = (value: unknown): value is { readonly secret: unknown } =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'secret') && Object.keys(value).length === 1

/** Neither problem nor remedy ever shows what stands there: it may be the secret itself. */
export const parseSecretReference = ({ secret }: { readonly secret: unknown }): Parsed => {
  const [[key, source] = [], ...others] = isMapping(secret) ? Object.entries(secret) : []
  if (others.length > 0) return { problem: unclear }
  if (key === 'env' && isWord(source) && !source.includes('=')) return { reference: { env: source } }
  if (key === 'file' && isWord(source)) return { reference: { file: source } }
  if (key === 'command' && isArgv(source)) return { reference: { command: source } }
  return { problem: unclear }
}

/** What stands after the tag `!secret`. Words of a command are separated by blanks; others are for the long form. */
export const parseSecretTag = (text: string): Parsed => {
  const [, key = '', source = ''] = /^(env|file|command):\s*(.*\S)\s*$/s.exec(text) ?? []
  return parseSecretReference({ secret: { [key]: key === 'command' ? source.split(/\s+/) : source } })
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== '' && !value.includes('\0')

const isArgv = (value: unknown): value is string[] =>
  Array.isArray(value) && isWord(value[0]) && value.every((word) => typeof word === 'string' && !word.includes('\0'))
