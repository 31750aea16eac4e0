import { readFile } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import type { EncodeRequest } from './encodings.ts'

/** Makes of the content's bytes what the host's programs undo. */
export const encoderFor = async ({ content, from, encoding, base }: EncodeRequest): Promise<Transform> => {
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
