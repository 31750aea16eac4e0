import { createHash, randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DroverError } from '../errors.ts'
import { hostFileNames } from '../report/host-report.ts'
import type { Secret } from '../secret.ts'
import { cannotWrite } from './collect-directory.ts'
import { writeNewFile } from './new-file.ts'

export interface ProvisionDirectory {
  readonly path: string
  fileOf(host: string, ending: string): string
  /** Writes a file, whole or not at all, for its owner alone. Its digest. */
  store(file: string, content: Secret): Promise<string>
}

interface Wanted {
  readonly out: string
  readonly cwd: string
  readonly hosts: readonly string[]
  /** With the dot. */
  readonly endings: readonly string[]
  readonly force: boolean
}

/** Where files go that are full of secrets. Refused before anything is written where others could come by them. */
export const openProvisionDirectory = ({ out, cwd, hosts, endings, force }: Wanted): ProvisionDirectory => {
  const path = resolve(cwd, out)
  const names = hostFileNames(hosts)
  const fileOf = (host: string, ending: string): string =>
    join(path, `${(names.get(host) ?? host).replace(/\.json$/, '')}${ending}`)
  checkDirectory(path, endings)
  const files = hosts.flatMap((host) => endings.map((ending) => fileOf(host, ending)))
  const taken = files.filter((file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined)
  if (taken[0] !== undefined && !force) throw exists(taken[0], taken.length)
  return {
    path,
    fileOf,
    store: async (file, content) => {
      const bytes = Buffer.from(content.reveal())
      try {
        await (force ? replaceFile(file, bytes) : writeNewFile(file, bytes))
      } catch (thrown) {
        throw cannotWrite(file, thrown)
      }
      return createHash('sha256').update(bytes).digest('hex')
    },
  }
}

const checkDirectory = (path: string, endings: readonly string[]): void => {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const stat = statSync(path)
    const own = process.getuid?.()
    if ((own !== undefined && stat.uid !== own) || (stat.mode & 0o077) !== 0) throw open(path)
    const foreign = readdirSync(path).filter((name) => !endings.some((ending) => name.endsWith(ending)))
    if (foreign[0] !== undefined) throw mixed(path, foreign[0], endings)
  } catch (thrown) {
    if (thrown instanceof DroverError) throw thrown
    throw new DroverError({
      code: 'usage',
      message: `The directory ${path} cannot be made or read.`,
      remedy: 'Name one with --out that is yours, or where you may make one.',
      detail: thrown instanceof Error ? thrown.message : String(thrown),
      cause: thrown,
    })
  }
}

/** Over what is there, in one step: whoever reads it meanwhile has the one or the other. */
const replaceFile = async (file: string, bytes: Uint8Array): Promise<void> => {
  const temporary = `${file}.${randomUUID()}`
  try {
    await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx', flush: true })
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

const open = (path: string): DroverError =>
  new DroverError({
    code: 'usage',
    message: `The directory ${path} is open to others, and what would be written there is full of secrets.`,
    remedy: 'Close it with chmod 700 if it is yours, or name another one with --out: a new one is made for you alone.',
  })

const mixed = (path: string, name: string, endings: readonly string[]): DroverError =>
  new DroverError({
    code: 'usage',
    message: `The directory ${path} holds other files than ${endings.join(' and ')}, such as ${name}.`,
    remedy: 'Name a directory with --out that is for nothing else: all of it is to be kept, and removed, as one.',
  })

const exists = (file: string, count: number): DroverError =>
  new DroverError({
    code: 'usage',
    message: `${file} is there already${count === 1 ? '' : `, and ${count - 1} more`}; a host may have been made from it.`,
    remedy: 'Name another directory with --out, or write over it with --force.',
  })
