import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
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

const [made, filesMade] = [
  (): string[] => readdirSync(folder).filter((name) => name.startsWith('drover-upload-')),
  (): string[] => made().flatMap((name) => readdirSync(join(folder, name))),
]

test('the rest of a file is made for one host alone, and goes when that has it', async () => {
  const content = contentOf('after', after)
  const [one, other] = await Promise.all(
    [1000, 1000].map((from) => encodings.encode({ content, from, encoding: 'zstd' })),
  )
  expect(one!.file).not.toBe(other!.file)
  await one!.release()
  expect(filesMade()).toEqual([basename(other!.file)])
  await other!.release()
  expect(filesMade()).toEqual([])
  await encodings.close()
})

test('what all hosts share stays until the end, whoever lets go of it', async () => {
  const content = contentOf('after', after)
  const { file, release } = await encodings.encode({ content, from: 0, encoding: 'zstd' })
  await release()
  expect(existsSync(file)).toBe(true)
  await encodings.close()
})

test('however many hosts are cut, there are never more than a few rests at a time', async () => {
  const content = contentOf('after', after)
  const rest = (from: number) => encodings.encode({ content, from, encoding: 'gzip' })
  const ends = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => rest(index + 1)))
  const held = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  expect(held).toHaveLength(4)
  expect(filesMade()).toHaveLength(4)
  // One that is let go twice makes room for one.
  await held[0]!.release()
  await held[0]!.release()
  const again = await Promise.allSettled([rest(50), rest(51)])
  expect(again.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await encodings.close()
})

test('what fails leaves nothing, and takes no room from others', async () => {
  const content = { ...contentOf('after', after), size: after.length + 1 }
  for (let from = 0; from < 8; from += 1)
    await expect(encodings.encode({ content, from, encoding: 'zstd' })).rejects.toThrow(/size|expected/i)
  expect(made()).toHaveLength(1)
  expect(filesMade()).toEqual([])
  await encodings.close()
})

test('what is compressed already is not tried', async () => {
  const content = contentOf('noise', randomBytes(3_000_000))
  await expect(encodings.encode({ content, from: 0, encoding: 'zstd' })).rejects.toThrow('compressed already')
  expect(made()).toEqual([])
  await encodings.close()
})

test('a file that is not as long as it was is refused, not waited for', async () => {
  const content = { ...contentOf('after', after), size: after.length + 1 }
  await expect(encodings.encode({ content, from: 0, encoding: 'zstd' })).rejects.toThrow()
  await encodings.close()
})
