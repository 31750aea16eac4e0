import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import pLimit from 'p-limit'
import { looksCompressible } from './compressible.ts'
import type { Content } from './content.ts'
import { encoderFor } from './encoder.ts'
import { createScratch } from './scratch.ts'

/** How bytes travel: as they are, compressed, or as the difference to a file that the host has. */
export type Encoding = 'raw' | 'gzip' | 'zstd' | 'delta'

/** What is to travel: so many bytes of a file of this workstation. */
export interface Encoded {
  readonly encoding: Encoding
  readonly file: string
  readonly start: number
  readonly bytes: number
  /** Nobody needs it any more who asked for it. */
  readonly release: () => Promise<void>
}

export interface EncodeRequest {
  readonly content: Content
  /** The first byte of the content that is wanted. */
  readonly from: number
  readonly encoding: Exclude<Encoding, 'raw'>
  /** For a delta: a file of this workstation with the content that the host has. */
  readonly base?: Content
}

/** Compresses each once for all hosts of a run, into files that go with it. */
export interface Encodings {
  /** What begins in the middle is made for one host alone, and goes when that lets go of it. */
  encode(request: EncodeRequest): Promise<Encoded>
  readonly close: () => Promise<void>
}

const nothingToRelease = async (): Promise<void> => undefined

export const rawFrom = ({ file, size }: Content, from: number): Encoded => ({
  encoding: 'raw',
  file,
  start: from,
  bytes: size - from,
  release: nothingToRelease,
})

const parallel = 2

/** So many rests at a time, for else a jump host that is lost would fill this machine's disk with one for each host. */
const mostRests = 4

/** `directory`: where a folder for them may be made. */
export const createEncodings = (directory: string): Encodings => {
  const wholes = new Map<string, Promise<Encoded>>()
  const making = new Set<Promise<Encoded>>()
  // A delta takes several times the size of its file in memory.
  const limit = pLimit(parallel)
  const scratch = createScratch(directory)
  let rests = 0
  let number = 0
  const make = (request: EncodeRequest, release: Encoded['release']): Promise<Encoded> => {
    number += 1
    const name = `${number}-${request.encoding}`
    const made = limit(() => encode(request, { release, path: () => scratch.path(name) }))
    making.add(made)
    made.finally(() => making.delete(made)).catch(() => undefined)
    return made
  }
  const wholeOf = (request: EncodeRequest): Promise<Encoded> => {
    const { content, encoding, base } = request
    const key = [content.sha256, encoding, base?.sha256].join('-')
    const whole = wholes.get(key) ?? make(request, nothingToRelease)
    wholes.set(key, whole)
    return whole
  }
  const restOf = async (request: EncodeRequest): Promise<Encoded> => {
    if (rests >= mostRests) throw new Error('there are as many as this machine should have')
    rests += 1
    let isReleased = false
    const release = (): void => {
      if (!isReleased) rests -= 1
      isReleased = true
    }
    try {
      const made: Encoded = await make(request, async () => {
        release()
        await rm(made.file, { force: true })
      })
      return made
    } catch (thrown) {
      release()
      throw thrown
    }
  }
  return {
    encode: (request) => (request.from === 0 ? wholeOf(request) : restOf(request)),
    close: async () => {
      await Promise.allSettled(making)
      await scratch.close()
    },
  }
}

interface Making {
  readonly release: Encoded['release']
  readonly path: () => Promise<string>
}

const encode = async (request: EncodeRequest, { release, path }: Making): Promise<Encoded> => {
  const { content, from, encoding } = request
  if (encoding !== 'delta' && !(await looksCompressible(content, from))) throw new Error('it is compressed already')
  const encoder = await encoderFor(request)
  const file = await path()
  try {
    const source = createReadStream(content.file, { start: from, highWaterMark: 256 * 1024 })
    await pipeline(source, encoder, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
    return { encoding, file, start: 0, bytes: (await stat(file)).size, release }
  } catch (thrown) {
    await rm(file, { force: true })
    throw thrown
  }
}
