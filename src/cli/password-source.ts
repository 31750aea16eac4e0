import { statSync } from 'node:fs'
import type { Problem } from '../inventory/names.ts'
import { quoted } from '../inventory/names.ts'
import { type ReadSecret, secretReader } from '../inventory/secret-reader.ts'
import { Secret, type SecretReference } from '../secret.ts'
import type { CliContext } from './context.ts'
import { secretSources } from './secret-sources.ts'

/** Reads the passwords that files, variables and programs hold, each once. */
export const passwordReader = (context: Pick<CliContext, 'env' | 'cwd'>): ReadSecret => {
  const readAny = secretReader(secretSources(context))
  const read: ReadSecret = (reference) => {
    if ('file' in reference && isOpenToAll(reference.file)) {
      const name = quoted(reference.file)
      return problem(`Everybody on this machine may read the password file ${name}.`, `chmod o= ${name}`)
    }
    const found = readAny(reference)
    if ('problem' in found) return found
    return typedPassword(found.secret.reveal(), sourceName(reference))
  }
  const known = new Map<string, ReturnType<ReadSecret>>()
  return (reference) => {
    const key = JSON.stringify(reference)
    const found = known.get(key) ?? read(reference)
    known.set(key, found)
    return found
  }
}

/** A password is what can be typed at a prompt: one line. */
export const typedPassword = (text: string, source: string): ReturnType<ReadSecret> => {
  if (text === '') return problem(`${source} holds no password: it is empty.`, 'Give the password.')
  if (/[\r\n\0]/.test(text))
    return problem(`${source} holds more than the one line of a password.`, 'Leave only the password in it.')
  return { secret: new Secret(text) }
}

const sourceName = (reference: SecretReference): string => {
  if ('file' in reference) return `The file ${quoted(reference.file)}`
  if ('env' in reference) return `The variable ${quoted(reference.env)}`
  return `What ${quoted(reference.command[0] ?? '')} prints`
}

/** A pipe, as in `<(pass show fleet)`, is nobody else's whatever its mode says. */
const isOpenToAll = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && (stat.mode & 0o004) !== 0
}

const problem = (message: string, remedy: string): { problem: Problem } => ({ problem: { message, remedy } })
