import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import { hostFileNames } from '../report/host-report.ts'
import { writeNewFile } from './new-file.ts'

export interface BundleDirectory {
  readonly path: string
  /** The name of a host's bundle without its ending, and of the directory in it. */
  nameOf(host: string): string
  /** Writes a bundle, whole or not at all, and never over another one. Its file. */
  store(host: string, bytes: Uint8Array): Promise<string>
  /** Takes a directory away again that was made for nothing. */
  removeIfEmpty(): void
}

const ending = '.tar.gz'

/** Where the bundles go: `out`, or a new directory named for the time. Refused before any host is touched where it cannot be. */
export const openBundleDirectory = (
  hosts: readonly string[],
  { out, cwd, now }: { readonly out: string | undefined; readonly cwd: string; readonly now: Date },
): BundleDirectory => {
  const { path, isNew } = makeDirectory(out, cwd, now)
  const names = hostFileNames(hosts)
  const nameOf = (host: string): string => (names.get(host) ?? host).replace(/\.json$/, '')
  const fileOf = (host: string): string => join(path, `${nameOf(host)}${ending}`)
  const taken = hosts.filter((host) => lstatSync(fileOf(host), { throwIfNoEntry: false }) !== undefined)
  if (taken[0] !== undefined) throw exists(fileOf(taken[0]), taken.length)
  return {
    path,
    nameOf,
    store: async (host, bytes) => {
      const file = fileOf(host)
      try {
        await writeNewFile(file, bytes)
        return file
      } catch (thrown) {
        throw isTaken(thrown) ? exists(file, 1) : cannotWrite(file, thrown)
      }
    },
    removeIfEmpty: () => {
      if (!isNew) return
      try {
        rmdirSync(path)
      } catch {
        // It is not empty, which is what it is for.
      }
    },
  }
}

const makeDirectory = (out: string | undefined, cwd: string, now: Date): { path: string; isNew: boolean } => {
  const time = `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
  const wanted = resolve(cwd, out ?? join('.drover/collect', time))
  try {
    if (out !== undefined)
      return { path: wanted, isNew: mkdirSync(wanted, { recursive: true, mode: 0o700 }) !== undefined }
    mkdirSync(resolve(wanted, '..'), { recursive: true, mode: 0o700 })
    return { path: makeUnique(wanted), isNew: true }
  } catch (thrown) {
    throw new DroverError({
      code: 'usage',
      message: `The directory ${wanted} for the bundles cannot be made.`,
      remedy: 'Name one with --out where you may write.',
      detail: thrown instanceof Error ? thrown.message : String(thrown),
      cause: thrown,
    })
  }
}

/** Two that start in the same second do not share one. */
const makeUnique = (wanted: string, attempt = 1): string => {
  const path = attempt === 1 ? wanted : `${wanted}-${attempt}`
  try {
    mkdirSync(path, { mode: 0o700 })
    return path
  } catch (thrown) {
    if (!isTaken(thrown) || attempt === 1000) throw thrown
    return makeUnique(wanted, attempt + 1)
  }
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined)

const isTaken = (thrown: unknown): boolean => codeOf(thrown) === 'EEXIST'

const exists = (file: string, count: number): DroverError =>
  new DroverError({
    code: 'usage',
    message: `${file} is there already${count === 1 ? '' : `, and ${count - 1} more`}; no bundle is overwritten.`,
    remedy: 'Name another directory with --out, or leave it out: then a new one is made for each time.',
  })

/** What helps depends on why it failed. */
export const cannotWrite = (file: string, thrown: unknown): DroverError =>
  new DroverError({
    code: 'usage',
    message: `The bundle ${file} cannot be written.`,
    remedy: `${remedies.find(([codes]) => codes.includes(String(codeOf(thrown))))?.[1] ?? 'Name another directory with --out'}; then run again for this host.`,
    detail: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  })

const remedies: readonly (readonly [codes: readonly string[], remedy: string])[] = [
  [['ENOSPC', 'EDQUOT'], 'Make room on the file system, or name another directory with --out'],
  [['EACCES', 'EPERM', 'EROFS'], 'Name a directory with --out where you may write'],
  [['ENOENT', 'ENOTDIR'], 'The directory has gone: name another with --out, or leave it out'],
]
