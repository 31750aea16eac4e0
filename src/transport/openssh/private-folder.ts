import { createHash } from 'node:crypto'
import { accessSync, constants, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from './environment.ts'

// A socket's path has to fit in 104 bytes on some systems, and ssh makes it under a name 17 longer first.
const maxBase = 48

// The path stands in a command line that ssh gives to the user's shell.
const isPlain = (path: string): boolean => /^\/[A-Za-z0-9._/-]*$/.test(path) && path.length <= maxBase

/** Where a private folder may be made: the user's own runtime directory if there is one. */
export const folderBases = (env: Environment, temporary = tmpdir()): readonly string[] =>
  [env.XDG_RUNTIME_DIR, temporary, '/tmp'].filter((base) => base !== undefined).filter(isPlain)

/** A new folder that nobody else can enter, for sockets and what else is of one run. */
export const makePrivateFolder = (env: Environment): string => {
  for (const base of folderBases(env)) {
    try {
      accessSync(base, constants.W_OK | constants.X_OK)
      return mkdtempSync(join(base, 'drover-'))
    } catch {
      // The next one, then.
    }
  }
  throw new Error(`no folder can be made in ${folderBases(env).join(', ')}`)
}

/** A name for one thing in it: short, and the same for nothing else. */
export const nameFor = (...identity: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16)

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })
