// Where the lab keeps what it must remember. Everything lies under .lab/ in the checkout, which git ignores.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const labSources = fileURLToPath(new URL('.', import.meta.url))
const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url))
export const stateDir = join(repositoryRoot, '.lab')

/** Tells this checkout's containers from those of another checkout on the same engine. */
export const checkoutId = createHash('sha256').update(repositoryRoot).digest('hex').slice(0, 12)

/** A folder under .lab/, made if missing. Private, since the client key lies in one of them. */
export function stateFolder(...parts: string[]): string {
  const folder = join(stateDir, ...parts)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** A digest over files and folders (names and bytes, in a fixed order) and any further words. */
export function recipeDigest(paths: readonly string[], words: readonly string[] = []): string {
  const hash = createHash('sha256')
  for (const path of paths) {
    for (const file of filesBelow(path))
      hash
        .update(`${file.slice(labSources.length)}\0`)
        .update(readFileSync(file))
        .update('\0')
  }
  for (const word of words) hash.update(`${word}\0`)
  return hash.digest('hex').slice(0, 16)
}

function filesBelow(path: string): string[] {
  if (!existsSync(path)) throw new Error(`the lab's recipe lacks ${path}`)
  const entries = readdirSyncOrNone(path)
  if (entries === undefined) return [path]
  return entries.sort().flatMap((name) => filesBelow(join(path, name)))
}

function readdirSyncOrNone(path: string): string[] | undefined {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}
