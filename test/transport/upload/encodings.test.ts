import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Content } from '../../../src/transport/upload/content.ts'
import { createEncodings, type EncodeRequest, type Encodings } from '../../../src/transport/upload/encodings.ts'

const text = (bytes: number): Buffer => Buffer.from(randomBytes(bytes / 2).toString('hex'))
const before = text(3_000_000)
const after = Buffer.concat([before.subarray(0, 1_000_000), text(50_000), before.subarray(1_000_000)])

let folder: string
let encodings: Encodings
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-encodings-'))
  encodings = createEncodings(folder)
  const made = folder
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

const contentOf = (name: string, bytes: Buffer): Content => {
  const file = join(folder, name)
  writeFileSync(file, bytes)
  return { file, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
}

const wide = { [constants.ZSTD_d_windowLogMax]: 31 }

const encoded = async (request: EncodeRequest): Promise<Buffer> => {
  const { file, start, bytes } = await encodings.encode(request)
  const whole = readFileSync(file)
  expect([start, bytes]).toEqual([0, whole.length])
  return whole
}

test.each([0, 1, 999_999, 3_049_999, 3_050_000])(
  'from byte %i on, each form leads to the rest of the file',
  async (from) => {
    const content = contentOf('after', after)
    const base = contentOf('before', before)
    const rest = after.subarray(from)
    expect(gunzipSync(await encoded({ content, from, encoding: 'gzip' })).equals(rest)).toBe(true)
    expect(zstdDecompressSync(await encoded({ content, from, encoding: 'zstd' })).equals(rest)).toBe(true)
    const delta = await encoded({ content, from, encoding: 'delta', base })
    expect(delta.length).toBeLessThan(60_000)
    expect(zstdDecompressSync(delta, { dictionary: before, params: wide }).equals(rest)).toBe(true)
  },
)

test('each is made once, whoever asks for it, and all are gone in the end', async () => {
  const content = contentOf('after', after)
  const request = { content, from: 0, encoding: 'zstd' } as const
  const [first, second] = await Promise.all([encodings.encode(request), encodings.encode(request)])
  expect(second).toBe(first)
  const [made = ''] = readdirSync(folder).filter((name) => name.startsWith('drover-upload-'))
  expect(readdirSync(join(folder, made))).toHaveLength(1)
  await encodings.close()
  expect(existsSync(join(folder, made))).toBe(false)
})

test('what is compressed already is not tried', async () => {
  const content = contentOf('noise', randomBytes(3_000_000))
  await expect(encodings.encode({ content, from: 0, encoding: 'zstd' })).rejects.toThrow('compressed already')
  await encodings.close()
})

test('a file that is not as long as it was is refused, not waited for', async () => {
  const content = { ...contentOf('after', after), size: after.length + 1 }
  await expect(encodings.encode({ content, from: 0, encoding: 'zstd' })).rejects.toThrow()
  await encodings.close()
})
