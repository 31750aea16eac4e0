import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Content } from './content.ts'

const deflated = promisify(gzip)

const sampleBytes = 64 * 1024
const samples = 8

/** By a few looks into it: what hardly becomes smaller is not worth the time that finding out costs with all of it. */
export const looksCompressible = async ({ file, size }: Content, from: number): Promise<boolean> => {
  const rest = size - from
  if (rest <= samples * sampleBytes) return true
  const handle = await open(file)
  try {
    let total = 0
    for (let sample = 0; sample < samples; sample += 1) {
      const at = from + Math.floor(((rest - sampleBytes) * sample) / (samples - 1))
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(sampleBytes), 0, sampleBytes, at)
      total += (await deflated(buffer.subarray(0, bytesRead), { level: constants.Z_BEST_SPEED })).length
    }
    return total < samples * sampleBytes * 0.95
  } finally {
    await handle.close()
  }
}
