import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { headLength } from './content.ts'
import { invalid, reasonOf, type Subject, unavailable } from './fault.ts'
import { shownSize } from './size.ts'

/** A file of the cache, named by its digest. */
export interface Stored {
  readonly file: string
  readonly sha256: string
  readonly size: number
  /** Its first bytes. */
  readonly head: Buffer
}

export interface Cache {
  /** The file with this digest, if it is there and has it still. */
  find(sha256: string): Promise<Stored | undefined>
  /** Takes the bytes in whole or not at all: before they get their name, `accept` may throw. */
  take(bytes: AsyncIterable<Uint8Array>, subject: Subject, accept: (got: Omit<Stored, 'file'>) => void): Promise<Stored>
}

export interface CacheOptions {
  readonly directory: string
  readonly largest: number
}

/** Several drovers may use one directory at a time: a file appears whole, under the name of its content. */
export const openCache = ({ directory, largest }: CacheOptions): Cache => {
  let made: Promise<void> | undefined
  return {
    find: async (sha256) => {
      const file = join(directory, sha256)
      try {
        const meter = createMeter()
        for await (const chunk of createReadStream(file)) meter.add(chunk)
        const got = meter.end()
        return got.sha256 === sha256 ? { file, ...got } : undefined
      } catch {
        // Not there, or unreadable: either way it has to be fetched.
        return undefined
      }
    },
    take: async (bytes, subject, accept) => {
      const unwritten = (thrown: unknown): never => {
        throw unavailable(subject, {
          problem: `it cannot be kept in ${directory}: ${reasonOf(thrown)}.`,
          remedy: 'Make room there and have the directory be yours, or set XDG_CACHE_HOME to another place.',
        })
      }
      made ??= makeDirectory(directory)
      await made.catch(unwritten)
      const part = join(directory, `.${randomUUID()}.part`)
      const handle = await open(part, 'wx', 0o700).catch(unwritten)
      try {
        const meter = createMeter()
        for await (const chunk of bytes) {
          if (meter.add(chunk) > largest) throw tooLarge(subject, largest)
          await handle.writeFile(chunk).catch(unwritten)
        }
        const got = meter.end()
        accept(got)
        await handle.sync().catch(unwritten)
        const file = join(directory, got.sha256)
        await rename(part, file).catch(unwritten)
        return { file, ...got }
      } catch (thrown) {
        await rm(part, { force: true })
        throw thrown
      } finally {
        await handle.close()
      }
    },
  }
}

export const tooLarge = (subject: Subject, largest: number) =>
  invalid(subject, {
    problem: `it is larger than ${shownSize(largest)}, the most that the agent takes.`,
    remedy: 'Name an archive that holds nothing but the agent, or the agent itself.',
  })

const createMeter = () => {
  const hash = createHash('sha256')
  let size = 0
  let head = Buffer.alloc(0)
  return {
    add: (chunk: Uint8Array): number => {
      hash.update(chunk)
      if (head.length < headLength) head = Buffer.concat([head, chunk.subarray(0, headLength - head.length)])
      size += chunk.length
      return size
    },
    end: () => ({ sha256: hash.digest('hex'), size, head }),
  }
}

/** A drover that was killed leaves its part behind; none is this long at it. */
const partAgeMs = 24 * 3600 * 1000

const makeDirectory = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await chmod(directory, 0o700)
  for (const name of await readdir(directory)) {
    if (!/^\.[0-9a-f-]{36}\.part$/.test(name)) continue
    const file = join(directory, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > partAgeMs) await rm(file, { force: true })
  }
}
