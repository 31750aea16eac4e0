import type { Problem } from '../inventory/names.ts'
import { quoted } from '../inventory/names.ts'
import type { ReadFile } from '../inventory/read-text.ts'
import { Secret, type SecretReference } from '../secret.ts'
import type { Value } from './value.ts'
import { isMap } from './value.ts'

/** Where the values of secrets come from; nothing else of the environment is ever read. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
}

/** A mapping with the one key `secret` is never plain data, so that a slip in it cannot pass for a value. */
export const isSecretReference = (value: Value | undefined): value is { readonly secret: Value } =>
  isMap(value) && Object.hasOwn(value, 'secret') && Object.keys(value).length === 1

export const parseSecretReference = (value: {
  readonly secret: Value
}): { reference: SecretReference } | { problem: Problem } => {
  const { secret } = value
  const [[key, source] = [], ...others] = isMap(secret) ? Object.entries(secret) : []
  if (others.length === 0 && typeof source === 'string' && source !== '') {
    if (key === 'env' && !/[=\0]/.test(source)) return { reference: { env: source } }
    if (key === 'file' && !source.includes('\0')) return { reference: { file: source } }
  }
  return {
    problem: {
      message: 'This secret does not say where it comes from.',
      remedy: 'Write { secret: { env: NAME } } or { secret: { file: PATH } }.',
    },
  }
}

export type ReadSecret = (reference: SecretReference) => { secret: Secret } | { problem: Problem }

/** Reads each secret once and only when a step asks for it: a run needs no secret that it does not use. */
export const secretReader = (sources: SecretSources): ReadSecret => {
  const found = new Map<string, ReturnType<ReadSecret>>()
  return (reference) => {
    const key = JSON.stringify(reference)
    const known = found.get(key) ?? read(reference, sources)
    found.set(key, known)
    return known
  }
}

const read = (reference: SecretReference, sources: SecretSources): ReturnType<ReadSecret> => {
  if ('env' in reference) {
    const name = quoted(reference.env)
    const value = Object.hasOwn(sources.env, reference.env) ? sources.env[reference.env] : undefined
    if (value === undefined) return missing(`The environment variable ${name} of a secret is not set.`, `Set ${name}.`)
    return value === ''
      ? missing(`The environment variable ${name} of a secret is empty.`, `Set ${name}.`)
      : { secret: new Secret(value) }
  }
  const name = quoted(reference.file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(sources.readFile(reference.file))
    const value = text.replace(/\r?\n$/, '')
    return value === ''
      ? missing(`The file ${name} of a secret is empty.`, 'Put the secret into it.')
      : { secret: new Secret(value) }
  } catch (thrown) {
    const reason = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown reason'
    return reason === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      ? missing(`The file ${name} of a secret is not UTF-8 text.`, 'Encode it, as base64 say.')
      : missing(`The file ${name} of a secret cannot be read (${reason}).`, 'Create it, or correct the path.')
  }
}

const missing = (message: string, remedy: string): { problem: Problem } => ({ problem: { message, remedy } })
