import { createReadStream, createWriteStream, mkdtempSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import pLimit from 'p-limit'
import { looksCompressible } from './compressible.ts'
import type { Content } from './content.ts'

/** How bytes travel: as they are, compressed, or as the difference to a file that the host has. */
export type Encoding = 'raw' | 'gzip' | 'zstd' | 'delta'

/** What is to travel: so many bytes of a file of this workstation. */
export interface Encoded {
  readonly encoding: Encoding
  readonly file: string
  readonly start: number
  readonly bytes: number
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
  encode(request: EncodeRequest): Promise<Encoded>
  readonly close: () => Promise<void>
}

export const rawFrom = ({ file, size }: Content, from: number): Encoded => ({
  encoding: 'raw',
  file,
  start: from,
  bytes: size - from,
})

const parallel = 2

/** `directory`: where a folder for them may be made. */
export const createEncodings = (directory: string): Encodings => {
  const made = new Map<string, Promise<Encoded>>()
  // A delta takes several times the size of its file in memory.
  const limit = pLimit(parallel)
  let folder: string | undefined
  return {
    encode: (request) => {
      const { content, from, encoding, base } = request
      const name = [content.sha256, from, encoding, ...(base === undefined ? [] : [base.sha256])].join('-')
      const known = made.get(name)
      if (known !== undefined) return known
      folder ??= mkdtempSync(join(directory, 'drover-upload-'))
      const file = join(folder, name)
      const encoded = limit(() => encode(request, file))
      made.set(name, encoded)
      return encoded
    },
    close: async () => {
      await Promise.allSettled(made.values())
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

const encode = async (request: EncodeRequest, file: string): Promise<Encoded> => {
  const { content, from, encoding } = request
  if (encoding !== 'delta' && !(await looksCompressible(content, from))) throw new Error('it is compressed already')
  const encoder = await encoderFor(request)
  const source = createReadStream(content.file, { start: from, highWaterMark: 256 * 1024 })
  await pipeline(source, encoder, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  return { encoding, file, start: 0, bytes: (await stat(file)).size }
}

const encoderFor = async ({ content, from, encoding, base }: EncodeRequest): Promise<Transform> => {
  if (encoding === 'gzip') return createGzip({ level: 1 })
  const pledgedSrcSize = content.size - from
  if (encoding === 'zstd' || base === undefined)
    return createZstdCompress({ pledgedSrcSize, params: { [constants.ZSTD_c_compressionLevel]: 6 } })
  const dictionary = await readFile(base.file)
  return createZstdCompress({ pledgedSrcSize, dictionary, params: deltaParams(base.size, content.size) })
}

/**
 * What `zstd --patch-from` undoes. The window spans both files. The tables are not left to the level to choose, since those
 * for a usual window would know only the end of the base: with a place for every other byte none of it is forgotten.
 */
const deltaParams = (baseBytes: number, bytes: number): Record<number, number> => {
  const tableLog = bounded(17, Math.ceil(Math.log2(baseBytes + 1)) - 1, 26)
  return {
    [constants.ZSTD_c_compressionLevel]: 5,
    [constants.ZSTD_c_windowLog]: bounded(20, Math.ceil(Math.log2(baseBytes + bytes + 1)), 30),
    [constants.ZSTD_c_hashLog]: tableLog,
    [constants.ZSTD_c_chainLog]: tableLog,
  }
}

const bounded = (least: number, value: number, most: number): number => Math.min(Math.max(least, value), most)
