import { Secret, type SecretReference } from '../secret.ts'
import type { Problem } from './names.ts'
import { quoted } from './names.ts'
import type { ReadFile } from './read-text.ts'

/** Where the values of secrets come from; nothing else of the environment is ever read. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  /** Standard output of a program of the workstation; throws where it does not end with 0. */
  readonly runProgram: (argv: readonly string[]) => Uint8Array
}

export type ReadSecret = (reference: SecretReference) => { secret: Secret } | { problem: Problem }

/** Reads each secret once and only when something asks for it: a run needs no secret that it does not use. */
export const secretReader = (sources: SecretSources): ReadSecret => {
  const found = new Map<string, ReturnType<ReadSecret>>()
  return (reference) => {
    const key = JSON.stringify(reference)
    const known = found.get(key) ?? read(reference, sources)
    found.set(key, known)
    return known
  }
}

const read = (reference: SecretReference, { env, readFile, runProgram }: SecretSources): ReturnType<ReadSecret> => {
  if ('env' in reference) {
    const name = quoted(reference.env)
    const value = Object.hasOwn(env, reference.env) ? env[reference.env] : undefined
    if (value === undefined) return missing(`The environment variable ${name} of a secret is not set.`, `Set ${name}.`)
    return value === ''
      ? missing(`The environment variable ${name} of a secret is empty.`, `Set ${name}.`)
      : { secret: new Secret(value) }
  }
  if ('file' in reference) {
    const file = quoted(reference.file)
    return readBytes(() => readFile(reference.file), {
      it: `The file ${file} of a secret`,
      failed: (reason) =>
        missing(`The file ${file} of a secret cannot be read (${reason}).`, 'Create it, or correct the path.'),
      empty: 'Put the secret into it.',
    })
  }
  // Not its arguments: nobody knows what they hold.
  const program = quoted(reference.command[0] ?? '')
  return readBytes(() => runProgram(reference.command), {
    it: `What the program ${program} says of a secret`,
    failed: (reason) =>
      missing(
        `The program ${program} gives no secret: ${reason}.`,
        'Run it by hand, as it stands there; it is run without a shell, and has a minute.',
      ),
    empty: 'Correct its arguments.',
  })
}

interface Words {
  readonly it: string
  readonly failed: (reason: string) => { problem: Problem }
  readonly empty: string
}

const readBytes = (bytes: () => Uint8Array, { it, failed, empty }: Words): ReturnType<ReadSecret> => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes())
    const value = text.replace(/\r?\n$/, '')
    return value === '' ? missing(`${it} is empty.`, empty) : { secret: new Secret(value) }
  } catch (thrown) {
    const reason = reasonOf(thrown)
    return reason === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      ? missing(`${it} is not UTF-8 text.`, 'Encode it, as base64 say.')
      : failed(reason)
  }
}

/** A code, or how a program ended; never a message, which may hold what the program said. */
const reasonOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return 'unknown reason'
  const { code, status, signal } = thrown as { code?: unknown; status?: unknown; signal?: unknown }
  if (typeof code === 'string') return code
  if (typeof status === 'number') return `exit status ${status}`
  return typeof signal === 'string' ? signal : 'unknown reason'
}

const missing = (message: string, remedy: string): { problem: Problem } => ({ problem: { message, remedy } })
