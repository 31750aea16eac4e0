import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { looksCompressible } from '../../../src/transport/upload/compressible.ts'

const noise = randomBytes(2_000_000)
const words = Buffer.from('an agent '.repeat(200_000))

test.each([
  ['noise', noise, 0, false],
  ['words', words, 0, true],
  ['half of either', Buffer.concat([noise, words]), 0, true],
  ['the noise after words', Buffer.concat([words, noise]), words.length, false],
  ['so little that it can be tried', noise.subarray(0, 500_000), 0, true],
])('%s', async (_what, bytes, from, isSo) => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-compressible-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'content')
  writeFileSync(file, bytes)
  expect(await looksCompressible({ file, sha256: '', size: bytes.length }, from)).toBe(isSo)
})
